import { AppError } from '../../domain/errors.ts';
import type { SeriesQuestion } from '../../domain/interval.ts';
import { DAY_MS, epochMs, floorTo, HOUR_MS, type OpenRange, type Range } from '../../domain/time.ts';
import { type Zone, zoneOf } from '../../domain/zone.ts';

const MAX_POINTS = 4_000;

/** The units of user growth. */
export const UTC_DAYS: SeriesQuestion = { interval: 'day', timezone: '+00:00' };

/**
 * Returns when the local units begin that meet the range, ascending, in epoch ms, and last the end of the last one. Throws
 * `validation_failed` if they are more than 4,000, or for an unknown zone.
 */
export function pointsIn(question: SeriesQuestion, { from, to }: Range): number[] {
  const starts: number[] = [];
  for (const start of startsFrom(question, from)) {
    starts.push(start);
    if (start > to) return starts;
    if (starts.length > MAX_POINTS) break;
  }
  throw invalid('from', `The range holds more than ${MAX_POINTS} points; at most ${MAX_POINTS} are listed.`);
}

/** The local unit that contains `at`. */
export function unitAt(
  question: SeriesQuestion,
  at: number,
): { readonly start: number; readonly end: number } {
  const [start = at, end = at] = pointsIn(question, { from: at, to: at } as Range);
  return { start, end };
}

/**
 * Replaces an omitted bound by that of the first or last unit with data. Null if no unit is left: no data, none from `from` on,
 * or none up to the unit of `to`.
 */
export function withinData(
  extent: Range | null,
  { from, to }: OpenRange,
  question: SeriesQuestion,
): Range | null {
  if (from !== null && to !== null) return { from, to };
  if (extent === null || (from !== null && extent.to < from)) return null;
  const first = from ?? epochMs(unitAt(question, extent.from).start);
  const last = to ?? epochMs(unitAt(question, extent.to).end - 1);
  return first > last ? null : { from: first, to: last };
}

/** The start of the unit that contains `from`, and of each one after it, without end. */
function* startsFrom({ interval, timezone }: SeriesQuestion, from: number): Generator<number> {
  const zone = zoneOf(timezone);
  if (zone === null) throw invalid('timezone', 'Unknown time zone.');
  let last: number | undefined;
  for (const start of interval === 'hour' ? hours(zone, from) : dates(zone, interval, from)) {
    // Of skipped dates, the start is that of the next one.
    if (last !== undefined && last !== start && start > from) yield last;
    last = start;
  }
}

const invalid = (field: string, message: string): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', { errors: [{ field, message }] });

/** A stretch of time without a change of the clock. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  /** The clock is changed at its start. */
  readonly isChange: boolean;
}

/** From the start of a year on, without end. A stretch also ends with its year. */
function* stretches(zone: Zone, firstYear: number): Generator<Stretch> {
  let [start, isChange] = [Date.UTC(firstYear, 0, 1), false];
  let offset = zone.offset(start);
  for (let year = firstYear; ; year++) {
    for (const change of zone.changes(year)) {
      if (change.at > start) yield { start, end: change.at, offset, isChange };
      [start, offset, isChange] = [change.at, change.offset, true];
    }
    const end = Date.UTC(year + 1, 0, 1);
    if (end > start) yield { start, end, offset, isChange };
    [start, isChange] = [end, false];
  }
}

/** Hours begin where the clock shows a whole one, and where it is changed. */
function* hours(zone: Zone, from: number): Generator<number> {
  for (const { start, end, offset, isChange } of stretches(zone, yearOf(from - HOUR_MS))) {
    if (end <= from - HOUR_MS) continue;
    if (isChange) yield start;
    const first = Math.max(start, from - HOUR_MS) + offset;
    const whole = floorTo(first, HOUR_MS) - offset;
    for (
      let at = whole < start || (isChange && whole === start) ? whole + HOUR_MS : whole;
      at < end;
      at += HOUR_MS
    )
      yield at;
  }
}

const yearOf = (at: number): number => new Date(at).getUTCFullYear();

/** Days, weeks and months begin at the first instant at which the clock shows their first date, or a later one. */
function* dates(zone: Zone, interval: SeriesQuestion['interval'], from: number): Generator<number> {
  let date = firstDate(interval, floorTo(from + zone.offset(from), DAY_MS));
  const all = stretches(zone, yearOf(date - 2 * DAY_MS));
  let stretch = all.next().value as Stretch;
  for (; ; date = nextDate(interval, date)) {
    while (stretch.end + stretch.offset <= date) stretch = all.next().value as Stretch;
    yield Math.max(stretch.start, date - stretch.offset);
  }
}

/** The first date of the unit of a date. Both are the UTC midnight of that date. */
function firstDate(interval: SeriesQuestion['interval'], date: number): number {
  const day = new Date(date);
  if (interval === 'month') return Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1);
  return interval === 'week' ? date - ((day.getUTCDay() + 6) % 7) * DAY_MS : date;
}

function nextDate(interval: SeriesQuestion['interval'], date: number): number {
  const day = new Date(date);
  if (interval === 'month') return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1);
  return date + (interval === 'week' ? 7 : 1) * DAY_MS;
}
