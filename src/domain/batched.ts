import { AppError } from './errors.ts';
import { currentWork, inWork, Work } from './work.ts';

/** Two, so that a statement that hangs does not delay all others. */
const MAX_RUNNING = 2;
/** More waiting look-ups are a flood: further ones are refused. */
const MAX_WAITING = 10_000;
/** Over HTTP the keys are a part of the URL: about 7 kB with hashes of 64 characters. */
const MAX_BATCH = 100;

interface Waiting<V> {
  readonly key: string;
  readonly work: Work | undefined;
  readonly resolve: (value: V | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines the look-ups that arrive while others are running. The store runs at most two statements, however
 * many keys are looked up at once (after a start, or made up by an attacker). Resolves to null for a key that
 * `read` does not find. A failed statement fails all of its keys.
 */
export function batched<V>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | null> {
  const waiting: Waiting<V>[] = [];
  let running = 0;

  const run = async (batch: readonly Waiting<V>[]): Promise<void> => {
    running++;
    const own = new Work();
    for (const { work } of batch) work?.waitFor(own);
    try {
      const found = await inWork(own, () => read([...new Set(batch.map(({ key }) => key))]));
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
      waiting.push({ key, work: currentWork(), resolve, reject });
      startNext();
    });
}

/** Maps rows by one of their columns, in the form that `batched` takes. */
export const byKey = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row> =>
  new Map(rows.map((row) => [keyOf(row), row]));
