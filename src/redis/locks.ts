import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import type { AssertHeld, Locks } from '../domain/locks.ts';
import { hashed, LOCK_PREFIX } from './keys.ts';
import { RedisAway, type RedisLink } from './link.ts';

/** The lock is free again after this long if its holder crashed. */
const LIFE_MS = 10_000;
const RENEW_MS = 1_000;
/** The longest that a caller waits for its turn by default. */
const PATIENCE_MS = 5_000;
/** How often a lock is given back that could not be released. */
const GIVE_BACK_MS = 250;

const script = (name: string): string =>
  readFileSync(new URL(`../../redis/${name}.lua`, import.meta.url), 'utf8');
const RELEASE = script('release-lock');
const RENEW = script('renew-lock');

/**
 * Locks between processes. Callers in one process queue up in `local` first, so Redis sees one per process.
 * `withLock` throws AppError `store_unavailable` if Redis is away, because without it nothing keeps processes
 * apart, and `overloaded` if the lock stays taken.
 */
export function createRedisLocks(link: RedisLink, local: Locks): Locks {
  return {
    withLock: (name, work, patienceMs = PATIENCE_MS) =>
      local.withLock(name, async () => {
        const key = LOCK_PREFIX + hashed(name);
        const token = randomUUID();
        const takenAt = await take(link, key, token, patienceMs);
        const { assertHeld, stop } = renewed(link, key, token, takenAt);
        try {
          return await work(assertHeld);
        } finally {
          stop();
          if (!(await isReleased(link, key, token))) void giveBack(link, key, token);
        }
      }),
  };
}

/** Renews a lock until `stop`. It is held for as long as Redis has said, counted from before it was asked. */
function renewed(
  link: RedisLink,
  key: string,
  token: string,
  takenAt: number,
): { readonly assertHeld: AssertHeld; readonly stop: () => void } {
  let heldUntil = takenAt + LIFE_MS;
  const renew = async (): Promise<void> => {
    const askedAt = performance.now();
    const isRenewed = await isOwn(link, key, token);
    // Once lost, it stays lost: another process may have held it meanwhile.
    if (performance.now() < heldUntil) heldUntil = isRenewed ? askedAt + LIFE_MS : 0;
  };
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_MS);
  return {
    assertHeld: async () => {
      // While Redis is away, its last answer counts.
      await renew().catch(() => undefined);
      if (performance.now() < heldUntil) return;
      throw new AppError('store_unavailable', 'This change was interrupted. Try again shortly.', {
        retryAfterSeconds: 2,
        cause: new Error('the lock was lost'),
      });
    },
    stop: () => clearInterval(renewal),
  };
}

/**
 * Resolves to the moment from which it is held, at the earliest, by `performance.now()`. A caller with more patience
 * than the default waits for Redis, too.
 */
async function take(link: RedisLink, key: string, token: string, patienceMs: number): Promise<number> {
  const started = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const isOver = askedAt - started > patienceMs;
    const isTaken = await setIfFree(link, key, token).catch((error: unknown) => {
      if (!isOver && patienceMs > PATIENCE_MS) return false;
      // An answer that is only late may have taken the lock.
      void giveBack(link, key, token);
      throw error;
    });
    if (isTaken) return askedAt;
    if (isOver) {
      throw new AppError('overloaded', 'Too many changes at once. Try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    await sleep(20 + Math.random() * 40);
  }
}

/** Renews the lock if it is held with this token. */
const isOwn = async (link: RedisLink, key: string, token: string): Promise<boolean> =>
  (await link.run((client) => client.eval(RENEW, 1, key, token, LIFE_MS))) === 1;

/** Releases the lock if it is held with this token. False if Redis is away. */
const isReleased = (link: RedisLink, key: string, token: string): Promise<boolean> =>
  link
    .run((client) => client.eval(RELEASE, 1, key, token))
    .then(
      () => true,
      () => false,
    );

/** Releases the lock as soon as Redis is back. Otherwise it would stay taken until it expires. */
async function giveBack(link: RedisLink, key: string, token: string): Promise<void> {
  const end = performance.now() + LIFE_MS;
  do {
    await sleep(GIVE_BACK_MS, undefined, { ref: false });
  } while (performance.now() < end && !(await isReleased(link, key, token)));
}

/** True if the lock was free, or was taken with this token by an attempt whose answer was late. */
async function setIfFree(link: RedisLink, key: string, token: string): Promise<boolean> {
  try {
    if ((await link.run((client) => client.set(key, token, 'PX', LIFE_MS, 'NX'))) === 'OK') return true;
    // Renewed, because the late attempt may have taken it nearly a whole life ago.
    return await isOwn(link, key, token);
  } catch (error) {
    if (!(error instanceof RedisAway)) throw error;
    throw new AppError('store_unavailable', 'Changes are not possible at the moment. Try again shortly.', {
      retryAfterSeconds: 2,
      cause: error,
    });
  }
}
