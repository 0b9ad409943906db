import type { SeriesQuestion } from '../../../src/domain/interval.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/** No clock is further ahead of UTC. */
const MOST_AHEAD = DAY;

/** From its first instant (inclusive) to that of the next unit (exclusive), epoch ms. */
interface Unit {
  readonly start: number;
  readonly end: number;
}

/** Ms by which a zone's clock is ahead of UTC at an instant. */
type Offset = (at: number) => number;

const offsets = new Map<string, Offset>();

function offsetOf(timezone: string): Offset {
  const known = offsets.get(timezone) ?? newOffset(timezone);
  offsets.set(timezone, known);
  return known;
}

function newOffset(timezone: string): Offset {
  const [fixed, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(timezone) ?? [];
  if (fixed !== undefined) {
    const ms = (Number(hours) * 60 + Number(minutes)) * 60 * SECOND;
    return () => (sign === '-' ? -ms : ms);
  }
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    calendar: 'gregory',
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const seen = new Map<number, number>();
  return (at) => {
    const second = Math.floor(at / SECOND) * SECOND;
    const before = seen.get(second);
    if (before !== undefined) return before;
    const offset = new Date(`${format.format(second).replace(' ', 'T')}Z`).getTime() - second;
    seen.set(second, offset);
    return offset;
  };
}

/** The hour that contains `at`. A change of the clock begins and ends one. */
function hourAt(offset: Offset, at: number): Unit {
  const own = offset(at);
  const start = Math.floor((at + own) / HOUR) * HOUR - own;
  const end = start + HOUR;
  return {
    start: offset(start) === own ? start : changeIn(offset, start, at),
    end: offset(end - 1) === own ? end : changeIn(offset, at, end - 1),
  };
}

/** The first instant with the offset of `to`, in an hour in which the clock is changed once. */
function changeIn(offset: Offset, from: number, to: number): number {
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offset(middle) === offset(to)) after = middle;
    else before = middle;
  }
  return after;
}

/** Days since 1970-01-01 of the date that the clock shows. */
const shownDay = (offset: Offset, at: number): number => Math.floor((at + offset(at)) / DAY);

/** The first instant at which the clock shows this date or a later one. */
function firstInstant(offset: Offset, day: number): number {
  let hour = hourAt(offset, day * DAY - MOST_AHEAD);
  while (shownDay(offset, hour.start) < day) hour = hourAt(offset, hour.end);
  return hour.start;
}

/** The first day of the unit that contains a day, and of the next one. */
function bounds(interval: SeriesQuestion['interval'], day: number): readonly [number, number] {
  const date = new Date(day * DAY);
  if (interval === 'month') {
    const first = (month: number): number => Date.UTC(date.getUTCFullYear(), month, 1) / DAY;
    return [first(date.getUTCMonth()), first(date.getUTCMonth() + 1)];
  }
  if (interval === 'day') return [day, day + 1];
  const monday = day - ((date.getUTCDay() + 6) % 7);
  return [monday, monday + 7];
}

/** The unit of a zone's calendar that contains `at`. Units of skipped dates are empty, and contain nothing. */
export function unitAt({ interval, timezone }: SeriesQuestion, at: number): Unit {
  const offset = offsetOf(timezone);
  if (interval === 'hour') return hourAt(offset, at);
  // A clock that was set back to the day before does not begin that day once more.
  let [first, next] = bounds(interval, shownDay(offset, at) + 2);
  while (firstInstant(offset, first) > at) [first, next] = bounds(interval, first - 1);
  return { start: firstInstant(offset, first), end: firstInstant(offset, next) };
}
