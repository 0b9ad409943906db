import { type EpochMs, epochMs, HOUR_MS, hourOf } from '../domain/time.ts';
import type { Snapshot } from './read.ts';

/**
 * Returns where the tail of a range of events up to `to` ends. If the app's last event is not after `to`, the tail is the same
 * for all such ranges: it ends with the hour of that event, also if this hour ends after the range, because whole hours are
 * read faster than a part. With `endsExactly`, it ends with the event itself.
 */
export function tailEnd(
  { extent, endsExactly }: Pick<Snapshot, 'extent' | 'endsExactly'>,
  to: EpochMs,
): EpochMs {
  const last = extent?.to ?? epochMs(0);
  if (to < last) return to;
  return endsExactly ? last : epochMs(hourOf(last) + HOUR_MS - 1);
}
