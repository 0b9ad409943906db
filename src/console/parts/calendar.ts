/*
 * Months of any calendar, by Intl. A day is a number of days since 1970-01-01, in no zone.
 */

const DAY_MS = 86_400_000;

export interface Month {
  /** Its first day. */
  readonly first: number;
  /** In days. */
  readonly length: number;
}

/** The calendar of a locale, such as `persian`. */
export const calendarOf = (locale: string): string =>
  new Intl.DateTimeFormat(locale).resolvedOptions().calendar;

export const dayOf = (date: string): number => Date.parse(date) / DAY_MS;
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
export const instantOfDay = (day: number): number => day * DAY_MS;

/** From 1, Monday, to 7. */
export const weekdayOf = (day: number): number => ((((day + 3) % 7) + 7) % 7) + 1;

/** The month that a day is in. */
export function monthOf(day: number, calendar: string): Month {
  const first = day - placeIn(day, calendar) + 1;
  // Every month has 28 days at least, and 35 days later another one has begun.
  const next = first + 35 - placeIn(first + 35, calendar) + 1;
  return { first, length: next - first };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The day's number in its month. */
function placeIn(day: number, calendar: string): number {
  const format =
    formats.get(calendar) ??
    new Intl.DateTimeFormat('en', { calendar, numberingSystem: 'latn', day: 'numeric', timeZone: 'UTC' });
  formats.set(calendar, format);
  return Number(format.format(day * DAY_MS));
}
