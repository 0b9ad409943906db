import { AppError } from '../domain/errors.ts';
import type { EpochMs } from '../domain/time.ts';
import { type Begun, isSameVersion } from './begun.ts';
import type { Snapshot } from './read.ts';
import { tailEnd } from './tail-end.ts';

/** A value that rests on a snapshot, and the app's state that was read after it was computed. */
interface Attempt<Value> {
  readonly value: Value;
  readonly begun: Begun;
}

/** Even a second one is rare. */
const MOST_ATTEMPTS = 5;

export interface Steady<Value> {
  readonly first: Snapshot;
  /** Reads a new snapshot. */
  again(): Promise<Snapshot>;
  /** The end of the question's range of events; null if it has none. */
  readonly to: EpochMs | null;
  compute(snapshot: Snapshot): Promise<Attempt<Value>>;
  /** Frees a value that is not returned. */
  drop?(value: Value): void;
}

export interface Result<Value> {
  readonly value: Value;
  /** The value rests on exactly this version; null if events were being stored meanwhile. */
  readonly of: Snapshot | null;
}

/**
 * Computes a value from a snapshot. If it may be wrong, it is computed again from a new snapshot whose tails end exactly. It
 * may be wrong in two cases. Sealing does not wait for readers: if it has deleted rows meanwhile (the era changed), the
 * value may lack them. If the tail is read beyond the range, the value may count events from after it that were being
 * stored.
 */
export async function untilSteady<Value>({
  first,
  again,
  to,
  compute,
  drop,
}: Steady<Value>): Promise<Result<Value>> {
  for (let [snapshot, attempt] = [first, 1]; ; attempt++) {
    const { value, begun } = await compute(snapshot);
    const isOfVersion = begun.version !== null && isSameVersion(begun.version, snapshot);
    const isReadBeyond = to !== null && tailEnd(snapshot, to) > to;
    const mayHoldLater = isReadBeyond && (begun.last === null || begun.last > to);
    const isRight = begun.era === snapshot.era && (isOfVersion || !mayHoldLater);
    if (isRight) return { value, of: isOfVersion ? snapshot : null };
    drop?.(value);
    if (attempt === MOST_ATTEMPTS) break;
    snapshot = { ...(await again()), endsExactly: true };
  }
  throw new AppError('overloaded', 'The facts of this app change too fast. Try again shortly.', {
    retryAfterSeconds: 5,
  });
}
