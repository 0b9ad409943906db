import { DAY_MS, type EpochMs, epochMs } from './time.ts';

/** For how long an app's events are kept. */
export interface AppRetention {
  /** Raw events are kept for this many days at least; null: for ever. */
  readonly days: number | null;
  /** Earlier settings refused sessions from before this. They stay refused: their hours may have expired. */
  readonly acceptedFrom: EpochMs;
}

/**
 * Returns the start of the oldest session that is accepted. Raw events expire a day later at the earliest, so
 * nothing comes in for hours that have expired.
 */
export function acceptedFrom(retention: AppRetention | undefined, now: EpochMs): EpochMs {
  if (retention === undefined) return epochMs(0);
  const { days, acceptedFrom: before } = retention;
  return days === null ? before : epochMs(Math.max(before, now - days * DAY_MS));
}
