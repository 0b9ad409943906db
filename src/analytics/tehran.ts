import { formatInTimeZone, fromZonedTime } from 'date-fns-tz';
import { type EpochMs, epochMs, HOUR_MS, type Range } from '../domain/time.ts';

/** Offsets come from the time-zone database: Tehran had daylight saving time until 2022. */
export const TEHRAN = 'Asia/Tehran';
const HEATMAP_DAYS = 7;
export const ACTIVITY_HOURS = 28 * 24;

/** `YYYY-MM-DD` of the Tehran calendar day (Gregorian) that holds `at`. */
export const tehranDate = (at: EpochMs): string => formatInTimeZone(at, TEHRAN, 'yyyy-MM-dd');

/** 0–23, the wall clock's hour. */
export const tehranHour = (at: EpochMs): number => Number(formatInTimeZone(at, TEHRAN, 'H'));

/** 1–7, Monday is 1. */
export const tehranWeekday = (at: EpochMs): number => Number(formatInTimeZone(at, TEHRAN, 'i'));

/** The last 7 Tehran calendar days, today included: their dates, oldest first, and the whole window. */
export function heatmapWindow(now: EpochMs): { readonly dates: readonly string[]; readonly range: Range } {
  const today = tehranDate(now);
  const dates = Array.from({ length: HEATMAP_DAYS }, (_, i) => addDays(today, i - HEATMAP_DAYS + 1));
  const from = dayStart(dates[0] ?? today);
  const to = dayStart(addDays(today, 1)) - 1;
  return { dates, range: { from: epochMs(from), to: epochMs(to) } };
}

/** The 672 hours that end with the current Tehran hour (its hours start at UTC :30, or :00 before 1979). */
export function activityWindow(now: EpochMs): Range {
  const minutes = Number(formatInTimeZone(now, TEHRAN, 'm'));
  const end = Math.floor(now / 60_000) * 60_000 - minutes * 60_000 + HOUR_MS;
  return { from: epochMs(end - ACTIVITY_HOURS * HOUR_MS), to: epochMs(end - 1) };
}

/** Calendar arithmetic on the date alone: days of a zone can have 23 or 25 hours. */
function addDays(date: string, days: number): string {
  const noon = new Date(`${date}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() + days);
  return noon.toISOString().slice(0, 10);
}

/** The first instant of a Tehran day: 01:00 on the days on which daylight saving time began at midnight. */
function dayStart(date: string): number {
  const midnight = fromZonedTime(`${date}T00:00:00`, TEHRAN).getTime();
  return tehranDate(epochMs(midnight)) === date
    ? midnight
    : fromZonedTime(`${date}T01:00:00`, TEHRAN).getTime();
}
