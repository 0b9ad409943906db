const HOUR = 3_600_000;
const HALF_HOUR = HOUR / 2;

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Asia/Tehran',
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** The time on a wall clock in Tehran. */
export interface TehranTime {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** ISO: Monday is 1. */
  readonly dayOfWeek: number;
}

export function tehranTime(at: number): TehranTime {
  const parts = new Map(FORMAT.formatToParts(at).map(({ type, value }) => [type, value]));
  const date = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
  return {
    date,
    hour: Number(parts.get('hour')),
    minute: Number(parts.get('minute')),
    second: Number(parts.get('second')),
    dayOfWeek: new Date(`${date}T00:00:00Z`).getUTCDay() || 7,
  };
}

/** Returns the start of the Tehran hour that holds `at`. */
export function tehranHourStart(at: number): number {
  const { minute, second } = tehranTime(at);
  const milliseconds = ((at % 1000) + 1000) % 1000;
  return at - minute * 60_000 - second * 1_000 - milliseconds;
}

/** Returns the first instant of a date in Tehran: 01:00 if daylight saving skips the hour after midnight. */
export function tehranDayStart(date: string): number {
  let at = new Date(`${date}T00:00:00Z`).getTime() - 6 * HOUR;
  while (tehranTime(at).date < date) at += HALF_HOUR;
  return at;
}

/** Returns the calendar date `days` later, in any time zone. */
export const dateAfter = (date: string, days: number): string =>
  new Date(new Date(`${date}T00:00:00Z`).getTime() + days * 24 * HOUR).toISOString().slice(0, 10);
