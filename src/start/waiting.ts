import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ClusterUnfit } from '../clickhouse/cluster.ts';
import type { Database } from '../clickhouse/database.ts';
import { engineCode } from '../clickhouse/errors.ts';
import { isError, messageOf } from '../domain/thrown.ts';
import type { RedisLink } from '../redis/link.ts';

const LINE_MS = 1_000;
/** From a failed attempt to the next one. */
const PAUSE_MS = 250;

/** The parts that a start waits for. */
export interface Parts {
  /** The store's URL. */
  readonly at: string;
  /** Opens the store. Rejects with an Error for the user, whose cause is the client's. */
  readonly open: () => Promise<Database>;
  /** Null without Redis. */
  readonly redis: Pick<RedisLink, 'address' | 'firstContact' | 'state'> | null;
}

export interface Patience {
  readonly seconds: number;
  readonly log: Pick<Logger, 'info'>;
}

/**
 * Opens the store of a ClickHouse server once it and Redis answer, in whatever order all of them start. Logs a line
 * a second that names the missing parts. Rejects after `seconds` with one Error that names them; at once if the
 * store answered with an error, because a wrong password does not become right.
 */
export async function openWhenThere(
  { at, open, redis }: Parts,
  { seconds, log }: Patience,
): Promise<Database> {
  let db: Database | undefined;
  let failure: unknown = new Error(`Cannot open the store at ${at}: no answer.`);
  let isOver = false;
  const attempts = async (): Promise<void> => {
    while (db === undefined && !isOver) {
      try {
        const opened = await open();
        if (isOver) await opened.close();
        else db = opened;
      } catch (error) {
        if (hasAnswered(error)) throw error;
        failure = error;
        await sleep(PAUSE_MS);
      }
    }
  };
  const isRedisMissing = (): boolean => redis !== null && redis.state !== 'up';
  const line = setInterval(() => {
    const store = db === undefined ? [`the store (${causeOf(failure)})`] : [];
    const missing = [...store, ...(isRedisMissing() ? [`Redis at ${redis?.address}`] : [])];
    log.info(`waiting for ${missing.join(' and ')}`);
  }, LINE_MS);
  const ms = seconds * 1000;
  try {
    const all = Promise.all([attempts(), redis?.firstContact(ms)]);
    // A server that accepts the connection and is silent holds an attempt for longer.
    await Promise.race([all, sleep(ms, undefined, { ref: false })]);
  } finally {
    isOver = true;
    clearInterval(line);
  }
  if (db !== undefined && !isRedisMissing()) return db;
  await db?.close();
  const reasons = [
    ...(db === undefined ? [messageOf(failure)] : []),
    ...(isRedisMissing() ? [redisAdvice(redis?.address)] : []),
  ];
  throw new Error(`${reasons.join(' ')} Waited for ${seconds} s (STORE_WAIT_SECONDS).`, { cause: failure });
}

const redisAdvice = (address = ''): string =>
  `Redis at ${address} does not answer, or refuses the password. Check that it runs, REDIS_URL and REDIS_PASSWORD.`;

/** True if the error came from the engine or from its answer, and not from the network or a proxy. */
const hasAnswered = (error: unknown): boolean =>
  error instanceof ClusterUnfit || (isError(error) && engineCode(error.cause) !== null);

const causeOf = (error: unknown): string =>
  isError(error) && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
