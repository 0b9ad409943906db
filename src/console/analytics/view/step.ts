import { type Choice, PRESETS, type Range, rangeOf } from './range.ts';
import { DAY_MS, dayStart, startsDay, wallAt, wallLength, type Zone } from './zone.ts';

/** Whose months a range can consist of. */
const CALENDARS = ['gregory', 'persian'] as const;
/** Longer ranges are moved by days: nobody thinks of them as months. */
const MOST_MONTH_DAYS = 800;

export type Step = -1 | 1;

interface Where {
  readonly zone: Zone;
  readonly now: number;
  /** The first session of the app. Undefined until it is known; null without one. */
  readonly oldest: number | null | undefined;
}

/**
 * The period before or after a range, as long as it: whole months beside whole months, days beside days, by the clock of the
 * zone. Null for one that is to come, or before the first data.
 */
export function stepped(choice: Choice, step: Step, { zone, now, oldest }: Where): Choice | null {
  const range = rangeOf(choice, zone, now);
  const next = moved(range, step, zone, typeof choice === 'object');
  const isThere = step === 1 ? next.from <= now : oldest !== null && next.to >= (oldest ?? 0);
  if (!isThere) return null;
  const preset = PRESETS.find((each) => isSame(rangeOf(each, zone, now), next));
  return preset ?? { from: wallAt(next.from, zone), to: wallAt(next.to, zone) };
}

const isSame = (one: Range, other: Range): boolean => one.from === other.from && one.to === other.to;

function moved(range: Range, step: Step, zone: Zone, mayBeMonths: boolean): Range {
  const { from, to } = range;
  const end = to + 1;
  if (!startsDay(from, zone) || !startsDay(end, zone)) {
    const length = step * (end - from);
    return { from: from + length, to: to + length };
  }
  const months = mayBeMonths ? monthsOf(range, zone) : null;
  if (months !== null) {
    return step === 1
      ? { from: end, to: monthsFrom(end, step, zone, months) - 1 }
      : { from: monthsFrom(from, step, zone, months), to: from - 1 };
  }
  // A first day that begins at 01:00 is a day, too.
  const days = step * Math.round(wallLength(from, end, zone) / DAY_MS);
  return { from: dayStart(from, zone, days), to: dayStart(end, zone, days) - 1 };
}

interface Months {
  readonly count: number;
  readonly calendar: (typeof CALENDARS)[number];
}

/** The whole months of which a range consists; null if it does not. */
function monthsOf({ from, to }: Range, zone: Zone): Months | null {
  if (to - from > MOST_MONTH_DAYS * DAY_MS) return null;
  for (const calendar of CALENDARS) {
    if (!isFirst(from, zone, calendar) || !isFirst(to + 1, zone, calendar)) continue;
    let count = 0;
    for (let at = from; at < to; at = dayStart(at, zone, 1)) count += Number(isFirst(at, zone, calendar));
    return { count, calendar };
  }
  return null;
}

/** The start of the month so many months before or after another start. */
function monthsFrom(start: number, step: Step, zone: Zone, { count, calendar }: Months): number {
  let at = start;
  for (let left = count; left > 0; left -= Number(isFirst(at, zone, calendar))) {
    at = dayStart(at, zone, step);
  }
  return at;
}

const days = new Map<string, Intl.DateTimeFormat>();

/** Whether a month of a calendar begins on the day of an instant. */
function isFirst(at: number, timeZone: Zone, calendar: string): boolean {
  const key = `${calendar} ${timeZone}`;
  const format =
    days.get(key) ?? new Intl.DateTimeFormat(`en-u-nu-latn-ca-${calendar}`, { day: 'numeric', timeZone });
  days.set(key, format);
  return format.format(at) === '1';
}
