import { AppError } from '../domain/errors.ts';

/** Two, so that one statement that hangs does not hold up all others. */
const MAX_RUNNING = 2;
/** Beyond this a flood has come, and new ones are refused. */
const MAX_WAITING = 10_000;
/** Over HTTP the keys are part of the URL: with hashes of 64 characters about 7 kB. */
const MAX_BATCH = 100;

interface Waiting<V> {
  readonly key: string;
  readonly resolve: (value: V | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes one look-up out of those that come while others are under way: however many keys are asked for at once
 * (after a start, or made up by an attacker), the store runs two statements at most. Null for a key that `read`
 * does not find; a failed statement fails all of its keys.
 */
export function batched<V>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | null> {
  const waiting: Waiting<V>[] = [];
  let running = 0;

  const run = async (batch: readonly Waiting<V>[]): Promise<void> => {
    running++;
    try {
      const found = await read([...new Set(batch.map(({ key }) => key))]);
      for (const { key, resolve } of batch) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running--;
      startNext();
    }
  };
  const startNext = (): void => {
    if (running < MAX_RUNNING && waiting.length > 0) void run(waiting.splice(0, MAX_BATCH));
  };

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) {
        reject(
          new AppError('overloaded', 'Too many look-ups at once. Try again shortly.', {
            retryAfterSeconds: 1,
          }),
        );
        return;
      }
      waiting.push({ key, resolve, reject });
      startNext();
    });
}

/** Rows by one of their columns, as `batched` wants them. */
export const byKey = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row> =>
  new Map(rows.map((row) => [keyOf(row), row]));
