import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, floorTo, HOUR_MS, type Range, storedPart } from '../../domain/time.ts';
import { int } from './sql.ts';

/**
 * Divides a range into slices: the periods of KPIs, days, hours, or the units of a calendar. A visitor counts once in
 * each slice: at the session whose prev lies before the slice or before the range.
 */
export interface Grid extends Range {
  /** The start of slice 0; other slices, and the range, may begin before or after it. */
  readonly origin: number;
  readonly width: number;
  /** Slices of unequal width begin at these instants, ascending, the first not after the range. Their number is their start. */
  readonly starts?: readonly number[];
}

const grid = (range: Range, origin: number, width: number): Grid => ({ ...storedPart(range), origin, width });

/** The range as a single slice. */
export const asOne = (range: Range): Grid => byPeriod(range, range);
/** Periods of the same length, adjacent and in order. */
export const byPeriod = (first: Range, last: Range): Grid =>
  grid({ from: first.from, to: last.to }, first.from, first.to - first.from + 1);
/** UTC days, counted from 1970-01-01. */
export const byDay = (range: Range): Grid => grid(range, 0, DAY_MS);
/** The hours from the start of the range on. */
export const byHour = (range: Range): Grid => grid(range, range.from, HOUR_MS);

/** Slices that begin at these instants. */
export const byStarts = (range: Range, starts: readonly number[]): Grid => ({ ...grid(range, 0, 1), starts });

/** Returns the number of the slice that contains `at`. */
export const sliceOf = ({ origin, width, starts }: Grid, at: number): number =>
  starts === undefined ? Math.floor((at - origin) / width) : lastUpTo(starts, at);

/** SQL of it, for an instant `at` in the range. Another server would read bare numbers as unsigned. */
export const sliceSql = ({ origin, width, starts }: Grid, at: Sql): Sql =>
  starts === undefined
    ? sql`intDiv(${at} - ${int(origin)}, ${int(width)})`
    : sql`roundDown(toInt64(${at}), CAST([${join(starts.map(int))}], 'Array(Int64)'))`;

/** The last of the ascending numbers that is not greater than `at`; the first one if all are. */
function lastUpTo(numbers: readonly number[], at: number): number {
  let [first, end] = [0, numbers.length];
  while (end - first > 1) {
    const middle = (first + end) >> 1;
    if ((numbers[middle] as number) <= at) first = middle;
    else end = middle;
  }
  return numbers[first] as number;
}

/** SQL: a visitor counts in the slice at a session whose prev lies before this. */
export const sinceSql = ({ from, origin, width }: Grid, slice: Sql): Sql =>
  sql`greatest(toInt64(${int(from)}), ${int(origin)} + ${slice} * ${int(width)})`;

/** Returns the start of the UTC day that contains `at`. */
export const dayOf = (at: number): number => floorTo(at, DAY_MS);
