import { AppError } from '../../domain/errors.ts';
import {
  DAY_MS,
  type EpochMs,
  epochMs,
  floorTo,
  MINUTE_MS,
  type OpenRange,
  type Range,
  utcDayStart,
} from '../../domain/time.ts';

/** The longest answer of user growth. */
const MAX_GROWTH_DAYS = 4_000;

/**
 * Returns the period that overview/kpis counts. Without bounds: today's UTC day. With `from` alone: up to the
 * end of today's UTC day. With `to` alone: from the start of its UTC day. Throws `validation_failed` if from
 * > to.
 */
export function kpiRange(range: OpenRange, now: EpochMs): Range {
  const today = utcDayStart(now);
  const to = range.to ?? epochMs(today + DAY_MS - 1);
  const from = range.from ?? (range.to === null ? today : utcDayStart(range.to));
  if (from > to)
    throw rangeError('from', 'from is later than the end of the range (without to: the end of today, UTC).');
  return { from, to };
}

/**
 * Returns the first and last UTC day of a growth answer, inclusive. Throws `validation_failed` if there are
 * more than 4,000.
 */
export function growthDays(range: Range): { readonly first: number; readonly last: number } {
  const first = Math.floor(range.from / DAY_MS);
  const last = Math.floor(range.to / DAY_MS);
  if (last - first + 1 > MAX_GROWTH_DAYS) {
    throw rangeError(
      'from',
      `The range holds ${last - first + 1} UTC days; at most ${MAX_GROWTH_DAYS} are listed.`,
    );
  }
  return { first, last };
}

export const REALTIME_MINUTES = 30;

/** The 30 minutes that end with the current one. */
export function realtimeWindow(now: EpochMs): Range {
  const end = floorTo(now, MINUTE_MS) + MINUTE_MS;
  return { from: epochMs(end - REALTIME_MINUTES * MINUTE_MS), to: epochMs(end - 1) };
}

const rangeError = (field: string, message: string): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', { errors: [{ field, message }] });
