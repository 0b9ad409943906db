import { type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, floorTo, HOUR_MS, type Range, storedPart } from '../../domain/time.ts';
import { int } from './sql.ts';

/**
 * Divides a range into slices of equal width: the periods of KPIs, days, or hours. A visitor counts once in
 * each slice: at the session whose prev lies before the slice or before the range.
 */
export interface Grid extends Range {
  /** The start of slice 0; other slices, and the range, may begin before or after it. */
  readonly origin: number;
  readonly width: number;
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

/** Returns the number of the slice that contains `at`. */
export const sliceOf = ({ origin, width }: Grid, at: number): number => Math.floor((at - origin) / width);

/** SQL of it, for an instant `at` in the range. */
export const sliceSql = ({ origin, width }: Grid, at: Sql): Sql =>
  sql`intDiv(${at} - ${int(origin)}, ${int(width)})`;
/** SQL: a visitor counts in the slice at a session whose prev lies before this. */
export const sinceSql = ({ from, origin, width }: Grid, slice: Sql): Sql =>
  sql`greatest(toInt64(${int(from)}), ${int(origin)} + ${slice} * ${int(width)})`;

/** Returns the start of the UTC day that contains `at`. */
export const dayOf = (at: number): number => floorTo(at, DAY_MS);
