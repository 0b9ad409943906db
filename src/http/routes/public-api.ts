import type { RequestHandler, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { type Caller, onBehalfOf } from '../../domain/caller.ts';
import { AppError } from '../../domain/errors.ts';
import type { AppId } from '../../domain/ids.ts';
import { type Endpoint, parametersOf, type Services } from '../../endpoints/endpoint.ts';
import { ENDPOINTS } from '../../endpoints/index.ts';
import type { ReadBegun } from '../../facts/begun.ts';
import type { ReadSnapshot } from '../../facts/snapshots.ts';
import type { Principal } from '../../metadata/types.ts';
import { Answers, type AnswersOptions } from '../answer/answers.ts';
import { maxStaleOf } from '../answer/max-stale.ts';
import { replyToGet, replyToPost, replyVersioned } from '../answer/reply.ts';
import { Representations } from '../answer/representations.ts';
import { type Column, columnsOf } from '../forms/columns.ts';
import { type AuthenticationDeps, createAuthenticate } from '../gate/authenticate.ts';
import { readJson } from '../gate/body.ts';
import { type Overload, refuseIfOverloaded } from '../gate/overload.ts';
import { createRateLimit, type RateLimitDeps } from '../gate/rate-limit.ts';
import { parseBody, parseQuery } from '../gate/validate.ts';
import { contextOf, Timing, targetOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';

const PREFIX = '/api/v1';
const BODY_LIMIT = 100 * 1024;
/** At most 10 MB. */
const PARSED = 10_000;
const PARSED_LENGTH = 300;

export interface PublicApiDeps extends Services, AuthenticationDeps, RateLimitDeps, AnswersOptions {
  readonly snapshots: ReadSnapshot;
  readonly begun: ReadBegun;
  readonly overload: Overload;
}

/** An endpoint with everything that is known of it before a request. */
interface Route {
  readonly endpoint: Endpoint;
  readonly isAboutApp: boolean;
  /** Null if the answer is no list. */
  readonly columns: readonly Column[] | null;
}

/**
 * Serves everything under /api/v1. The order of checks is part of the contract: 401, 429, 404 and 405, 415
 * and 413, 400, 403, 409.
 */
export function publicApi(deps: PublicApiDeps): RequestHandler {
  const authenticate = createAuthenticate(deps);
  const rateLimit = createRateLimit(deps);
  const routes = routesOf(ENDPOINTS);
  const answers = new Answers(deps.snapshots, deps.begun, deps);
  const representations = new Representations(deps);
  const parsed = parsedQueries();
  const { analytics, access, clock } = deps;
  const services: Services = { analytics, access, clock };
  return async (req, res, next) => {
    const { path, search } = targetOf(req);
    if (path !== PREFIX && !path.startsWith(`${PREFIX}/`)) {
      next();
      return;
    }
    refuseIfOverloaded(deps.overload);
    const context = contextOf(res);
    const timing = new Timing();
    context.timing = timing;
    const principal = await authenticate(req);
    context.principal = principal;
    timing.end('auth');
    await rateLimit(principal, res);
    timing.end('limit');
    const { endpoint, isAboutApp, columns } = pick(routes.get(path), req, res);
    context.route = endpoint.path;
    const body = endpoint.method === 'post' ? await readJson(req, res, BODY_LIMIT) : undefined;
    const query = parsed(endpoint, search);
    const input = {
      ...services,
      query,
      body: endpoint.method === 'post' ? parseBody(endpoint.body, body) : undefined,
      principal,
    };
    endpoint.check(query, deps.clock);
    const app = isAboutApp ? (query as { appId: AppId }).appId : null;
    if (app !== null) await authorize(deps, principal, app);
    const basis = endpoint.basis(query, deps.clock);
    const compute = async (): Promise<unknown> => endpoint.handler(input);
    const answer = async (): Promise<void> => {
      if (app === null || basis === null) {
        timing.end('plan');
        const value = await compute();
        timing.end('store');
        if (endpoint.method === 'post') replyToPost(req, res, 201, value);
        else await replyToGet(req, res, value as object);
        return;
      }
      const { accountId: account } = principal;
      const { operationId } = endpoint;
      const versioned = await answers.ask(
        { account, app, operationId, query, basis, compute },
        maxStaleOf(req.headers['cache-control']),
      );
      timing.end('plan');
      await replyVersioned(req, res, versioned, { columns, representations });
    };
    await onBehalfOf(new Waiting(principal.keyId, res), answer);
  };
}

/** Parses queries with a cache, because pollers repeat theirs. Parsing depends on nothing but the text. */
function parsedQueries(): (endpoint: Endpoint, search: string) => object {
  const known = new LRUCache<string, object>({ max: PARSED });
  return (endpoint, search) => {
    if (search.length > PARSED_LENGTH) return parseQuery(endpoint.query, search) as object;
    const key = `${endpoint.operationId} ${search}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const query = Object.freeze(parseQuery(endpoint.query, search)) as object;
    known.set(key, query);
    return query;
  };
}

/**
 * The caller that waits for the answer. Most answers come from memory, so the signal is made only if it is
 * needed.
 */
class Waiting implements Caller {
  readonly key: string;
  readonly #res: Response;
  #signal: AbortSignal | undefined;

  constructor(key: string, res: Response) {
    this.key = key;
    this.#res = res;
  }

  onRowsRead(rows: number): void {
    contextOf(this.#res).timing?.read(rows);
  }

  /** Aborts if the connection closes before the answer is written. */
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    const gone = new AbortController();
    const res = this.#res;
    if (res.destroyed && !res.writableFinished) gone.abort();
    res.once('close', () => {
      if (!res.writableFinished) gone.abort();
    });
    this.#signal = gone.signal;
    return gone.signal;
  }
}

/** Endpoints by path, then by method in upper case. */
function routesOf(endpoints: readonly Endpoint[]): Map<string, Map<string, Route>> {
  const routes = new Map<string, Map<string, Route>>();
  for (const endpoint of endpoints) {
    const byMethod = routes.get(endpoint.path) ?? new Map<string, Route>();
    byMethod.set(endpoint.method.toUpperCase(), {
      endpoint,
      isAboutApp: 'appId' in parametersOf(endpoint.query).shape,
      columns: columnsOf(endpoint),
    });
    routes.set(endpoint.path, byMethod);
  }
  return routes;
}

/**
 * Checks the plan first: a suspended account learns nothing about apps. An unknown app is answered like one
 * of another account.
 */
async function authorize({ access }: Services, principal: Principal, app: AppId): Promise<void> {
  if (!principal.plan.analytics) {
    throw new AppError('plan_blocked', "The account's plan does not include analytics.");
  }
  if (!(await access.canRead(principal.accountId, app))) {
    throw new AppError('app_access_denied', 'The account has no access to this app.');
  }
}
