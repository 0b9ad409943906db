import type { Database } from '../clickhouse/database.ts';
import { listOf, number, rowOf, text } from '../clickhouse/row.ts';
import { join, type Sql, sql } from '../clickhouse/sql.ts';
import { floorTo, HOUR_MS } from '../domain/time.ts';
import { Hour, type RowsOfKey } from './hour.ts';
import type { Cache } from './memory.ts';
import type { Span } from './plan.ts';
import { rowsForMemory } from './rows.ts';
import { int } from './sql.ts';

/*
 * Edges are answered from whole hours in memory. While a poller's range moves by milliseconds, its edges stay
 * within the same hours, and any part of an hour is counted here, without a statement. To read a whole hour takes longer
 * than to count a part of it, so the store counts the parts at first. Events are read at the second question and
 * sessions at the third, so that no question reads both.
 */

/** What is read of an hour. */
export interface HourSource {
  readonly name: string;
  /** SQL of a row's instant (epoch ms), of its key, and of its other numbers (integers). */
  readonly at: Sql;
  readonly key: Sql;
  readonly others: readonly Sql[];
  /** SQL from FROM on: the rows of these hours. */
  from(hours: readonly Span[]): Sql;
  /** The store counts parts of the hour for so many questions, 1 by default. The next one reads the whole hour. */
  readonly countedTimes?: number;
  /** True if hours that are too large for memory are answered in another way: they throw `TooLarge`. */
  readonly isLimited?: boolean;
  /** The memory for an hour. */
  memoryOf(hour: Span): Cache;
}

/** A part of an hour, with the hour. */
export interface Cut<Part extends Span> {
  readonly part: Part;
  readonly hour: Hour;
}

const ROW = rowOf([number, text, listOf(number)]);
const NOTHING = new Hour(0, [], 0);

const hourIn = (source: HourSource, start: number) => {
  const hour = { start, end: start + HOUR_MS };
  return { hour, key: `${source.name} ${source.from([hour])}`, memory: source.memoryOf(hour) };
};
const startsOf = (parts: readonly Span[]): number[] => [
  ...new Set(parts.map(({ start }) => floorTo(start, HOUR_MS))),
];

/** Parts that are counted in whole hours in memory, and parts that the store counts. */
export interface Turns<Part extends Span> {
  readonly inMemory: readonly Part[];
  readonly inStore: readonly Part[];
}

/** Notes that the hours of the parts are asked for, and splits the parts by what answers them now. */
export function byTurn<Part extends Span>(source: HourSource, parts: readonly Part[]): Turns<Part> {
  const asked = new Set(
    startsOf(parts).filter((start) => {
      const { memory, key } = hourIn(source, start);
      return memory.get(key) !== undefined || memory.noteAsked(key, source.countedTimes);
    }),
  );
  const wasAsked = ({ start }: Span): boolean => asked.has(floorTo(start, HOUR_MS));
  return { inMemory: parts.filter(wasAsked), inStore: parts.filter((part) => !wasAsked(part)) };
}

/** Returns the hour of each part. A part lies within one hour. */
export async function hoursOf<Part extends Span>(
  db: Database,
  source: HourSource,
  parts: readonly Part[],
): Promise<Cut<Part>[]> {
  const hours = startsOf(parts).map((start) => hourIn(source, start));
  const found = new Map(hours.map(({ hour, key, memory }) => [hour.start, memory.get<Hour>(key)]));
  const unknown = hours.filter(({ hour }) => found.get(hour.start) === undefined);
  if (unknown.length > 0) {
    const read = await readHours(
      db,
      source,
      unknown.map(({ hour }) => hour),
    );
    for (const { hour, key, memory } of unknown) {
      const own = read.get(hour.start) ?? NOTHING;
      found.set(hour.start, own);
      memory.set(key, own, own.rows.length / 10 + own.keys.length);
    }
  }
  return parts.map((part) => ({ part, hour: found.get(floorTo(part.start, HOUR_MS)) ?? NOTHING }));
}

async function readHours(
  db: Database,
  { name, at, key, others, isLimited, from }: HourSource,
  hours: readonly Span[],
): Promise<ReadonlyMap<number, Hour>> {
  const numbers = [sql`at % ${int(HOUR_MS)}`, ...others];
  const query = {
    name,
    sql: sql`SELECT intDiv(at, ${int(HOUR_MS)}) * ${int(HOUR_MS)} AS hour, toString(key), groupArrayArray(row) FROM
(
    SELECT ${at} AS at, ${key} AS key, [${join(numbers.map((number) => sql`toInt64(${number})`))}] AS row ${from(hours)}
)
GROUP BY hour, key`,
    row: ROW,
  };
  const rows = await (isLimited === true ? rowsForMemory(db, query) : db.rows(query));
  const byHour = new Map<number, RowsOfKey[]>();
  for (const [hour, key, numbers] of rows) {
    const known = byHour.get(hour);
    if (known === undefined) byHour.set(hour, [[key, numbers]]);
    else known.push([key, numbers]);
  }
  return new Map([...byHour].map(([hour, byKey]) => [hour, new Hour(hour, byKey, others.length)]));
}
