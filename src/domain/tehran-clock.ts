/** Offsets come from the time zone database: Tehran had daylight saving time until 2022. */
export const TEHRAN = 'Asia/Tehran';

/**
 * date-fns-tz reads a clock by the process's own time zone, which skips an hour when its daylight saving time begins. So
 * it is read here. The console uses it too.
 */
const CLOCK = new Intl.DateTimeFormat('en-US', {
  timeZone: TEHRAN,
  calendar: 'gregory',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
});

/**
 * Returns the instant at which a clock in UTC shows the same as one in Tehran at `at`, to the second. Both are in epoch ms.
 */
export function shownInTehran(at: number): number {
  const parts = Object.fromEntries(CLOCK.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
