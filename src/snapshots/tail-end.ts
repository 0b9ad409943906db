import { type EpochMs, epochMs, HOUR_MS, hourOf, type Range } from '../domain/time.ts';

/** What tells where tails of events end. */
export interface Ends {
  /** The first and last instant with an event or the start of a session; null without data. */
  readonly extent: Range | null;
  /**
   * Tails of events are not read beyond a range. They never are if several processes are on the store: none knows the times of
   * the events that others are storing, so each answer would be computed twice while events come in.
   */
  readonly endsExactly: boolean;
}

/**
 * Returns where the tail of a range of events up to `to` ends. If the app's last event is not after `to`, the tail is the same
 * for all such ranges: it ends with the hour of that event, also if this hour ends after the range, because whole hours are
 * read faster than a part. With `endsExactly`, it ends with the event itself.
 */
export function tailEnd({ extent, endsExactly }: Ends, to: EpochMs): EpochMs {
  const last = extent?.to ?? epochMs(0);
  if (to < last) return to;
  return endsExactly ? last : epochMs(hourOf(last) + HOUR_MS - 1);
}
