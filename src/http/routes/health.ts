import type { Request, RequestHandler } from 'express';
import { AppError } from '../../domain/errors.ts';
import type { SealingHealth } from '../../facts/sealer.ts';
import type { RedisState } from '../../redis/link.ts';
import { replyToGet } from '../answer/reply.ts';
import { contextOf, targetOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';

/** A store that takes longer to answer is not ready. */
const PING_MS = 3_000;
/** The age up to which a store's last answer counts. */
const REMEMBERED_MS = 5_000;

export interface HealthDeps {
  /** What is damaged in the store, for the operator; null if it is whole. */
  readonly damage: () => string | null;
  /** Rejects if the store does not answer. */
  readonly ping: () => Promise<void>;
  /** True if the store has found no room on its disk. It still answers questions. */
  readonly isFull: () => boolean;
  /** Null without Redis. */
  readonly redisState: () => RedisState | null;
  readonly isDraining: () => boolean;
  /** How far sealing is behind. */
  readonly sealing: () => SealingHealth;
}

const PATHS = { alive: '/healthz', ready: '/readyz' } as const;

/** Whether the request asks for one of these pages. */
export const isServicePage = (req: Request): boolean =>
  (Object.values(PATHS) as string[]).includes(targetOf(req).path);

/** Serves /healthz and /readyz: no authentication, no limit. */
export function servicePages(deps: HealthDeps): RequestHandler {
  const ping = remembered(() => inTime(deps.ping()));
  const pages = new Map<string, () => Promise<object> | object>([
    [PATHS.alive, () => ({ status: 'ok' })],
    [PATHS.ready, () => readiness(deps, ping)],
  ]);
  return async (req, res, next) => {
    const { path } = targetOf(req);
    const page = pages.get(path);
    if (page === undefined) {
      next();
      return;
    }
    contextOf(res).route = path;
    const answer = pick(new Map([['GET', page]]), req, res);
    await replyToGet(req, res, await answer());
  };
}

/** Without Redis every process limits alone. That is worse, but no reason to send traffic elsewhere. */
const REDIS_WORDS = {
  up: { status: 'ok', redis: 'ok' },
  away: { status: 'degraded', redis: 'away' },
  off: { status: 'ok', redis: 'off' },
} as const;

/** Events are refused, and questions answered: other processes on the store can do no more. */
const FULL_WORDS = { store: 'disk full', status: 'degraded' } as const;

async function readiness(
  { isDraining, isFull, redisState, sealing, damage }: HealthDeps,
  ping: () => Promise<void>,
): Promise<object> {
  if (isDraining()) {
    throw new AppError('overloaded', 'This process is shutting down and takes no new work.', {
      retryAfterSeconds: 1,
    });
  }
  const damaged = damage();
  if (damaged !== null) throw new AppError('store_unavailable', damaged, { retryAfterSeconds: 60 });
  await ping();
  const words = REDIS_WORDS[redisState() ?? 'off'];
  return { store: 'ok', ...words, ...(isFull() ? FULL_WORDS : {}), sealing: sealing() };
}

/**
 * Limits the pings, because anyone may ask any number of times: only one is underway. If the store answered a
 * moment ago, no caller waits for the next ping, which a busy store answers late; a failure shows in the call
 * after it.
 */
function remembered(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let hereAt = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<void> => {
    try {
      await work();
      hereAt = performance.now();
    } catch (error) {
      hereAt = Number.NEGATIVE_INFINITY;
      throw error;
    } finally {
      running = undefined;
    }
  };
  return async () => {
    running ??= ask();
    running.catch(() => undefined);
    if (performance.now() - hereAt > REMEMBERED_MS) await running;
  };
}

function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(away()), PING_MS);
  });
  // Every failure means that the store is not ready.
  const here = work.catch((error: unknown) => {
    throw error instanceof AppError ? error : away(error);
  });
  return Promise.race([here, late]).finally(() => clearTimeout(timer));
}

const away = (cause?: unknown): AppError =>
  new AppError('store_unavailable', 'The store does not answer. Try again shortly.', {
    retryAfterSeconds: 5,
    cause,
  });
