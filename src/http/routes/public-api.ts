import type { Request, RequestHandler, Response } from 'express';
import { LRUCache } from 'lru-cache';
import type { AnalyticsFrom } from '../../analytics/analytics.ts';
import { onBehalfOf } from '../../domain/caller.ts';
import { AppError } from '../../domain/errors.ts';
import type { Forgetting } from '../../domain/forgetting.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Clock, EpochMs } from '../../domain/time.ts';
import { type Endpoint, isAboutApp, type Question } from '../../endpoints/endpoint.ts';
import { ENDPOINTS } from '../../endpoints/index.ts';
import type { Access, Principal, Shown } from '../../metadata/types.ts';
import type { ReadBegun } from '../../snapshots/begun.ts';
import type { ReadSnapshot } from '../../snapshots/snapshots.ts';
import { Answers, type AnswersOptions } from '../answer/answers.ts';
import type { Asked } from '../answer/asked.ts';
import { maxStaleOf } from '../answer/max-stale.ts';
import { replyToGet, replyToPost, replyVersioned } from '../answer/reply.ts';
import { Representations } from '../answer/representations.ts';
import { type Column, columnsOf } from '../forms/columns.ts';
import { prefersStream } from '../forms/event-stream.ts';
import type { Authentication } from '../gate/authenticate.ts';
import { readJson } from '../gate/body.ts';
import { type Overload, refuseIfOverloaded } from '../gate/overload.ts';
import { announce, type Counted } from '../gate/rate-limit.ts';
import { parseBody, parseQuery } from '../gate/validate.ts';
import type { LiveQuestion } from '../live/channel.ts';
import type { LiveHub } from '../live/hub.ts';
import { replyWithStream } from '../live/reply.ts';
import { contextOf, Timing, targetOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';
import { inCallersForm } from '../request/nearest.ts';
import { Waiting } from '../request/waiting.ts';
import { isShown, narrowed } from './shown.ts';

const PREFIX = '/api/v1';
const BODY_LIMIT = 100 * 1024;
/** At most 10 MB. */
const PARSED = 10_000;
const PARSED_LENGTH = 300;

export interface PublicApiDeps extends AnswersOptions {
  readonly analytics: AnalyticsFrom;
  readonly access: Access;
  readonly snapshots: ReadSnapshot;
  readonly begun: ReadBegun;
  readonly clock: Clock;
  readonly overload: Overload;
  readonly live: LiveHub;
  readonly forgetting: Forgetting;
}

/** Where the Public API is served, and for whom. */
export interface Mount {
  /** The text before `/api/v1`. */
  readonly below: string;
  readonly authentication: Authentication;
  /** Counts a request in the caller's window. */
  count(principal: Principal): Promise<Counted>;
  /** Whether callers see how long each step took, and how many rows it read. Absent: they do. */
  readonly isTimingShown?: boolean;
}

/** An endpoint with everything that is known of it before a request. */
interface Route {
  readonly endpoint: Endpoint;
  /** Null if the answer is no list. */
  readonly columns: readonly Column[] | null;
}

/** A request that passed the checks of its form, its caller and its app. */
interface Checked {
  readonly route: Route;
  readonly principal: Principal;
  readonly query: object;
  readonly asks: AboutApp | AboutAccount;
  /** Counts one more answer. */
  count(): Promise<Counted>;
  /** Throws if the caller may no longer ask this. */
  confirm(): Promise<void>;
}

interface AboutApp {
  readonly app: AppId;
  /** The question at the moment of the request. */
  readonly first: Question;
  /** The question at another moment. */
  at(now: EpochMs): Question;
}

interface AboutAccount {
  readonly app: null;
  answer(): Promise<unknown>;
}

/**
 * Serves everything under /api/v1 at each place that it is mounted. The order of checks is part of the contract:
 * 401, 429, 404 and 405, 415 and 413, 400, 403, 409.
 */
export function publicApi(deps: PublicApiDeps): (mount: Mount) => RequestHandler {
  const routes = routesOf(ENDPOINTS);
  const answers = new Answers(deps.snapshots, deps.begun, deps);
  const representations = new Representations(deps);
  deps.forgetting.add((app) => {
    answers.forget(app);
    representations.clear();
  });
  const parsed = parsedQueries();
  const { analytics, access, clock, live: hub } = deps;

  async function check(
    req: Request,
    res: Response,
    { below, authentication, count, isTimingShown = true }: Mount,
  ): Promise<Checked> {
    const { path, search } = targetOf(req);
    const context = contextOf(res);
    const known = routes.get(path.slice(below.length));
    // Also of requests that are refused.
    if (known !== undefined) context.route = path;
    const timing = new Timing('auth', { isShown: isTimingShown });
    context.timing = timing;
    const principal = await authentication.authenticate(req);
    context.principal = principal;
    timing.next('limit');
    announce(res, await count(principal));
    timing.next('plan');
    const { only } = principal;
    const route = pick(only === undefined ? known : shownOf(known, only), req, res);
    const { endpoint } = route;
    const json = endpoint.method === 'post' ? await readJson(req, res, BODY_LIMIT) : undefined;
    const asQuery = parsed(endpoint, search);
    const query = only === undefined ? asQuery : narrowed(endpoint, asQuery, only);
    const body = endpoint.method === 'post' ? parseBody(endpoint.body, json) : undefined;
    const asks = asked(endpoint, query, principal, body);
    if (asks.app !== null) {
      context.app = asks.app;
      await authorize(access, principal, asks.app);
    }
    return {
      route,
      principal,
      query,
      asks,
      count: () => count(principal),
      confirm: async () => {
        const again = await authentication.confirm(req);
        if (asks.app !== null) await authorize(access, again, asks.app);
      },
    };
  }

  /** Throws `validation_failed` for errors that the schema cannot find. */
  function asked(
    endpoint: Endpoint,
    query: object,
    principal: Principal,
    body: unknown,
  ): AboutApp | AboutAccount {
    if (!isAboutApp(endpoint)) {
      return { app: null, answer: async () => endpoint.handler({ access, principal, query, body }) };
    }
    const at = (now: EpochMs) => endpoint.question(query, now);
    return { app: (query as { appId: AppId }).appId, first: at(clock()), at };
  }

  function questionOf({ route: { endpoint }, principal, query }: Checked, { app, first, at }: AboutApp) {
    const { accountId: account, keyId: key } = principal;
    const { operationId } = endpoint;
    const of = ({ basis, compute }: Question): Asked => ({
      account,
      app,
      operationId,
      query,
      basis,
      compute: (snapshot) => compute(analytics(snapshot)),
    });
    const again = (): Asked => of(at(clock()));
    const live = (): LiveQuestion => ({
      name: `${account} ${operationId} ${JSON.stringify(query)}`,
      holder: principal.only === undefined ? account : `links of ${account}`,
      app,
      key,
      window: () => again().basis.window,
      ask: () => answers.ask(again(), null),
    });
    return { ask: (maxStaleMs: number | null) => answers.ask(of(first), maxStaleMs), live };
  }

  async function answer(req: Request, res: Response, checked: Checked): Promise<void> {
    const { route, asks, count, confirm } = checked;
    const timing = contextOf(res).timing;
    if (asks.app === null) {
      timing?.next('store');
      const value = await asks.answer();
      timing?.next('answer');
      if (route.endpoint.method === 'post') replyToPost(req, res, 201, value);
      else await replyToGet(req, res, value as object);
      return;
    }
    const question = questionOf(checked, asks);
    if (req.method === 'GET' && prefersStream(req.headers.accept)) {
      await replyWithStream(req, res, { hub, question: question.live(), count, confirm });
      return;
    }
    const versioned = await question.ask(maxStaleOf(req.headers['cache-control']));
    timing?.next('store');
    await replyVersioned(req, res, versioned, { columns: route.columns, representations });
  }

  return (mount) => async (req, res, next) => {
    const { path } = targetOf(req);
    const prefix = `${mount.below}${PREFIX}`;
    if (path !== prefix && !path.startsWith(`${prefix}/`)) {
      next();
      return;
    }
    refuseIfOverloaded(deps.overload);
    const checked = await check(req, res, mount);
    const caller = new Waiting(checked.principal.keyId, res);
    try {
      await onBehalfOf(caller, () => answer(req, res, checked));
    } catch (error) {
      throw inCallersForm(error, targetOf(req).search);
    } finally {
      caller.end();
    }
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

/** Endpoints by path, then by method in upper case. */
function routesOf(endpoints: readonly Endpoint[]): Map<string, Map<string, Route>> {
  const routes = new Map<string, Map<string, Route>>();
  for (const endpoint of endpoints) {
    const byMethod = routes.get(endpoint.path) ?? new Map<string, Route>();
    byMethod.set(endpoint.method.toUpperCase(), {
      endpoint,
      columns: columnsOf(endpoint),
    });
    routes.set(endpoint.path, byMethod);
  }
  return routes;
}

/** The routes of a path that a link shows. */
function shownOf(byMethod: ReadonlyMap<string, Route> | undefined, only: Shown) {
  const shown = [...(byMethod ?? [])].filter(([, { endpoint }]) => isShown(endpoint, only));
  return shown.length === 0 ? undefined : new Map(shown);
}

/**
 * Checks the plan first: a suspended account learns nothing about apps. An unknown app is answered like one
 * of another account.
 */
async function authorize(access: Access, principal: Principal, app: AppId): Promise<void> {
  if (!principal.plan.analytics) {
    throw new AppError('plan_blocked', "The account's plan does not include analytics.");
  }
  const isOther = principal.only !== undefined && principal.only.app !== app;
  if (isOther || !(await access.canRead(principal.accountId, app))) {
    throw new AppError('app_access_denied', 'The account has no access to this app.');
  }
}
