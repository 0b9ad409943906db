import { AppError } from '../domain/errors.ts';
import type { Snapshot } from './read.ts';

/** A value that rests on a snapshot, and the app's era after it was computed. */
interface Attempt<Value> {
  readonly value: Value;
  readonly era: string;
}

/** Even a second one is rare. */
const MOST_ATTEMPTS = 5;

/**
 * Computes a value from a snapshot. Sealing does not wait for readers: if it has deleted rows meanwhile (the era changed),
 * the value may lack them, so it is computed again from a new snapshot.
 */
export async function untilSteady<Value>(
  first: Snapshot,
  again: () => Promise<Snapshot>,
  compute: (snapshot: Snapshot) => Promise<Attempt<Value>>,
): Promise<Value> {
  for (let [snapshot, attempt] = [first, 1]; ; attempt++) {
    const { value, era } = await compute(snapshot);
    if (era === snapshot.era) return value;
    if (attempt === MOST_ATTEMPTS) break;
    snapshot = await again();
  }
  throw new AppError('overloaded', 'The facts of this app change too fast. Try again shortly.', {
    retryAfterSeconds: 5,
  });
}
