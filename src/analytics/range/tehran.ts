import { fromZonedTime } from 'date-fns-tz/fromZonedTime';
import { LRUCache } from 'lru-cache';
import { shownInTehran, TEHRAN } from '../../domain/tehran-clock.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, type Range } from '../../domain/time.ts';

const HEATMAP_DAYS = 7;
const ACTIVITY_HOURS = 28 * 24;

/** The date and time of an instant in Tehran, in the Gregorian calendar. */
export interface TehranTime {
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** 0–23 */
  readonly hour: number;
  /** 1–7, Monday is 1. */
  readonly weekday: number;
}

/** The time zone database is slow, and the same few hundred hours are asked for repeatedly. */
const known = new LRUCache<EpochMs, TehranTime>({ max: 4 * ACTIVITY_HOURS });

export function tehranTime(at: EpochMs): TehranTime {
  const before = known.get(at);
  if (before !== undefined) return before;
  const shown = new Date(shownInTehran(at));
  const time = { date: dateOf(shown), hour: shown.getUTCHours(), weekday: shown.getUTCDay() || 7 };
  known.set(at, time);
  return time;
}

const SECOND_MS = 1_000;

/** Returns the start of the Tehran hour that contains `at`. */
const tehranHourOf = (at: number): number => floorTo(at, SECOND_MS) - (shownInTehran(at) % HOUR_MS);

const HALF_HOUR_MS = HOUR_MS / 2;

/**
 * Caches the last result for its half hour: Tehran's days and hours start on half hours of UTC, so a window
 * cannot change within one.
 */
function ofHalfHour<T>(compute: (now: EpochMs) => T): (now: EpochMs) => T {
  let last: { readonly at: number; readonly value: T } | undefined;
  return (now) => {
    const at = Math.floor(now / HALF_HOUR_MS);
    if (last?.at !== at) last = { at, value: compute(now) };
    return last.value;
  };
}

/** The last 7 Tehran calendar days, today included: their dates, oldest first, and the range of all. */
export const heatmapWindow = ofHalfHour(heatmapWindowAt);

function heatmapWindowAt(now: EpochMs): { readonly dates: readonly string[]; readonly range: Range } {
  const today = tehranTime(now).date;
  const dates = Array.from({ length: HEATMAP_DAYS }, (_, i) => addDays(today, i - HEATMAP_DAYS + 1));
  const from = dayStart(dates[0] ?? today);
  const to = dayStart(addDays(today, 1)) - 1;
  return { dates, range: { from: epochMs(from), to: epochMs(to) } };
}

/** The 672 hours that end with the current Tehran hour (its hours start at UTC :30, or :00 before 1979). */
export const activityWindow = ofHalfHour(activityWindowAt);

function activityWindowAt(now: EpochMs): Range {
  const end = tehranHourOf(now) + HOUR_MS;
  return { from: epochMs(end - ACTIVITY_HOURS * HOUR_MS), to: epochMs(end - 1) };
}

/** Calendar arithmetic on the date alone, because a day of a time zone can have 23 or 25 hours. */
function addDays(date: string, days: number): string {
  const noon = new Date(`${date}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() + days);
  return dateOf(noon);
}

const dateOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Returns the first instant of a Tehran day: 01:00 if daylight saving time began at midnight. */
function dayStart(date: string): number {
  const midnight = fromZonedTime(`${date}T00:00:00`, TEHRAN).getTime();
  return tehranTime(epochMs(midnight)).date === date
    ? midnight
    : fromZonedTime(`${date}T01:00:00`, TEHRAN).getTime();
}
