import { lengthOf, type Range } from './range.ts';
import { DAY_MS, dayStart, instantOf, type WallMinute, wallAt, type Zone } from './zone.ts';

/** Days, weeks from Monday and Gregorian months, by the clock of a zone. */
export type Unit = 'day' | 'week' | 'month';

const MOST_DAYS = 100;
const MOST_WEEK_DAYS = 400;

/** Days in UTC come in one answer. Elsewhere a question counts two units, so long ranges have longer ones. */
export function unitOf(range: Range, zone: Zone): Unit {
  const days = lengthOf(range) / DAY_MS;
  if (zone === 'UTC' || days <= MOST_DAYS) return 'day';
  return days <= MOST_WEEK_DAYS ? 'week' : 'month';
}

/** The units that meet a range, the first and the last one as much as they are in it. */
export function unitsOf(range: Range, unit: Unit, zone: Zone): readonly Range[] {
  const units: Range[] = [];
  for (let from = range.from; from <= range.to; ) {
    const next = nextStart(from, unit, zone);
    units.push({ from, to: Math.min(next - 1, range.to) });
    from = next;
  }
  return units;
}

/** Whether the first and the last unit are only partly in the range, or not over yet. */
export function cutsOf(
  range: Range,
  unit: Unit,
  zone: Zone,
  now: number,
): { readonly first: boolean; readonly last: boolean } {
  const starts = (at: number): boolean => nextStart(at - 1, unit, zone) === at;
  return { first: !starts(range.from), last: range.to >= now || !starts(range.to + 1) };
}

/** The first start of a unit after an instant. */
function nextStart(at: number, unit: Unit, zone: Zone): number {
  if (unit === 'day') return dayStart(at, zone, 1);
  const date = wallAt(at, zone).slice(0, 10);
  if (unit === 'week') return dayStart(at, zone, 7 - ((new Date(date).getUTCDay() + 6) % 7));
  const first = new Date(`${date.slice(0, 7)}-01T00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + 1);
  return instantOf(first.toISOString().slice(0, 16) as WallMinute, zone);
}
