import { int } from '../../clickhouse/literals.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, floorTo, type Range, storedPart } from '../../domain/time.ts';

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

/** Slices that begin at these instants. */
export const byStarts = (range: Range, starts: readonly number[]): Grid => ({ ...grid(range, 0, 1), starts });

/** The starts of the slices and the ends of the range. */
export const boundsOf = ({ from, to, starts = [] }: Grid): number[] => [
  from,
  ...starts.filter((at) => at > from && at <= to),
  to + 1,
];

/** Returns the number of the slice that contains `at`. */
export const sliceOf = ({ origin, width, starts }: Grid, at: number): number =>
  starts === undefined ? Math.floor((at - origin) / width) : lastUpTo(starts, at);

/** SQL of it, for an instant `at` in the range. */
export function sliceSql({ origin, width, starts }: Grid, at: Sql): Sql {
  if (starts === undefined) return sql`intDiv(${at} - ${int(origin)}, ${int(width)})`;
  const runs = runsOf(starts);
  // Bare numbers could be read as unsigned.
  if (runs.length > MOST_RUNS)
    return sql`roundDown(toInt64(${at}), CAST([${join(starts.map(int))}], 'Array(Int64)'))`;
  const parts = runs.flatMap((run, i) => {
    const [first, each, next] = [int(run.start), int(run.width), runs[i + 1]];
    const start = sql`${first} + intDiv(${at} - ${first}, ${each}) * ${each}`;
    return next === undefined ? [start] : [sql`${at} < ${int(next.start)}`, start];
  });
  const start = parts.length === 1 ? join(parts) : sql`multiIf(${join(parts)})`;
  return sql`least(toInt64(${int(Math.max(...starts))}), ${start})`;
}

/** Adjacent slices of the same width. */
interface Run {
  readonly start: number;
  readonly width: number;
}

/** The engine computes the start of a slice in a fraction of the time in which it searches the list of all starts. */
const MOST_RUNS = 8;

/** The last slice, whose end is unknown, belongs to the run before it. */
function runsOf(starts: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (let i = 0; i + 1 < starts.length; i++) {
    const start = starts[i] as number;
    const width = (starts[i + 1] as number) - start;
    if (runs.at(-1)?.width !== width) runs.push({ start, width });
  }
  return runs.length === 0 ? [{ start: starts[0] as number, width: Number.MAX_SAFE_INTEGER }] : runs;
}

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
