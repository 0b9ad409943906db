import { AppError } from '../domain/errors.ts';
import type { EpochMs } from '../domain/time.ts';
import type { Snapshot } from './read.ts';

/** A value that rests on a snapshot, and whether it is right: the app's era is still that of the snapshot. */
interface Attempt<Value> {
  readonly value: Value;
  readonly isSteady: boolean;
}

/** Even a second one is rare. */
const MOST_ATTEMPTS = 5;

/**
 * Computes a value from a snapshot. Sealing does not wait for readers: if it has deleted rows meanwhile (the era changed),
 * the value may lack them, so it is computed again from a new snapshot. The same holds if the value may count events from
 * after the range (`mayCountLater`).
 */
export async function untilSteady<Value>(
  first: Snapshot,
  again: () => Promise<Snapshot>,
  compute: (snapshot: Snapshot) => Promise<Attempt<Value>>,
): Promise<Value> {
  for (let [snapshot, attempt] = [first, 1]; ; attempt++) {
    const { value, isSteady } = await compute(snapshot);
    if (isSteady) return value;
    if (attempt === MOST_ATTEMPTS) break;
    snapshot = await again();
  }
  throw new AppError('overloaded', 'The facts of this app change too fast. Try again shortly.', {
    retryAfterSeconds: 5,
  });
}

/**
 * Returns whether an answer about events up to `to` may count later ones. A tail that holds the app's last event is read up
 * to the end of its hour, because nothing was later at the snapshot. So the first event from after the range may be
 * counted if it was committed meanwhile. From a snapshot that holds this event, the tail ends with the range.
 */
export const mayCountLater = (before: Snapshot, after: Snapshot, to: EpochMs | null): boolean =>
  mayHoldMore(before, to) && to !== null && (after.extent?.to ?? 0) > to;

/** Returns whether the tail of a range of events up to `to` is read beyond it. */
export const mayHoldMore = ({ extent, endsExactly }: Snapshot, to: EpochMs | null): boolean =>
  to !== null && endsExactly !== true && (extent?.to ?? 0) <= to;
