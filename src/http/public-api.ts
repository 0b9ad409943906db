import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../domain/errors.ts';
import type { AppId } from '../domain/ids.ts';
import { type Endpoint, parametersOf, type Services } from '../endpoints/endpoint.ts';
import { ENDPOINTS } from '../endpoints/index.ts';
import type { ReadSnapshot } from '../facts/snapshots.ts';
import type { Principal } from '../metadata/types.ts';
import { Answers } from './answers.ts';
import { type AuthenticationDeps, createAuthenticate } from './authenticate.ts';
import { readJson } from './body.ts';
import { contextOf, targetOf } from './context.ts';
import { pick } from './methods.ts';
import { createRateLimit, type RateLimitDeps } from './rate-limit.ts';
import { replyToGet, replyToPost, replyVersioned } from './reply.ts';
import { parseBody, parseQuery } from './validate.ts';

const PREFIX = '/api/v1';
const BODY_LIMIT = 100 * 1024;

export interface PublicApiDeps extends Services, AuthenticationDeps, RateLimitDeps {
  readonly snapshots: ReadSnapshot;
}

/** Everything under /api/v1. The order of checks is the contract: 401, 429, 404 and 405, 415 and 413, 400, 403, 409. */
export function publicApi(deps: PublicApiDeps): RequestHandler {
  const authenticate = createAuthenticate(deps);
  const rateLimit = createRateLimit(deps);
  const routes = routesOf(ENDPOINTS);
  const answers = new Answers(deps.snapshots);
  return async (req, res, next) => {
    const { path, search } = targetOf(req);
    if (path !== PREFIX && !path.startsWith(`${PREFIX}/`)) {
      next();
      return;
    }
    const context = contextOf(res);
    const principal = await authenticate(req);
    context.principal = principal;
    await passes(rateLimit, req, res);
    const endpoint = pick(routes.get(path), req, res);
    context.route = endpoint.path;
    const body = endpoint.method === 'post' ? await readJson(req, res, BODY_LIMIT) : undefined;
    const query = parseQuery(endpoint.query, search);
    const input = { ...deps, query, body: parseBody(endpoint.body, body), principal };
    endpoint.check(query, deps.clock);
    const app = isAboutApp(endpoint) ? (query as { appId: AppId }).appId : null;
    if (app !== null) await authorize(deps, principal, app);
    const basis = endpoint.basis(query, deps.clock);
    if (endpoint.method === 'post') replyToPost(req, res, 201, await endpoint.handler(input));
    else if (app === null || basis === null) replyToGet(req, res, await endpoint.handler(input));
    else {
      const { accountId: account } = principal;
      const { operationId } = endpoint;
      const compute = (): Promise<unknown> => endpoint.handler(input);
      await replyVersioned(req, res, await answers.ask({ account, app, operationId, query, basis, compute }));
    }
  };
}

/** Endpoints by path, then by method in upper case. */
function routesOf(endpoints: readonly Endpoint[]): Map<string, Map<string, Endpoint>> {
  const routes = new Map<string, Map<string, Endpoint>>();
  for (const endpoint of endpoints) {
    const byMethod = routes.get(endpoint.path) ?? new Map<string, Endpoint>();
    byMethod.set(endpoint.method.toUpperCase(), endpoint);
    routes.set(endpoint.path, byMethod);
  }
  return routes;
}

const passes = (check: RequestHandler, req: Request, res: Response): Promise<void> =>
  new Promise((resolve, reject) => {
    check(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });

const isAboutApp = (endpoint: Endpoint): boolean => 'appId' in parametersOf(endpoint.query).shape;

/** The plan comes first: a suspended account learns nothing about apps. An unknown app is a foreign one. */
async function authorize({ access }: Services, principal: Principal, app: AppId): Promise<void> {
  if (!principal.plan.analytics) {
    throw new AppError('plan_blocked', "The account's plan does not include analytics.");
  }
  if (!(await access.canRead(principal.accountId, app))) {
    throw new AppError('app_access_denied', 'The account has no access to this app.');
  }
}
