import type { Database } from '../../clickhouse/database.ts';
import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { floorTo, HOUR_MS } from '../../domain/time.ts';
import type { Span } from '../range/plan.ts';
import { int } from '../range/sql.ts';
import { Hour } from './hour.ts';
import type { Cache } from './memory.ts';
import { rowsForMemory } from './rows.ts';

/*
 * Edges are answered from whole hours in memory. While a poller's range moves by milliseconds, its edges stay
 * within the same hours, and any part of an hour is counted here, without a statement. To read a whole hour takes longer
 * than to count a part of it, so the store counts the parts for three questions: a range that is asked for no more often
 * never pays for memory. Then one question after the other reads one of the hours, those of events first, so that none
 * takes more than about half as long again as the first.
 */

/** The statement that reads an hour. */
export interface HourSource {
  readonly name: string;
  /** SQL of a row's instant (epoch ms), of its key, and of its other numbers (integers). */
  readonly at: Sql;
  readonly key: Sql;
  readonly others: readonly Sql[];
  /** SQL of numbers. Rows of a key with the same ones repeat each other. */
  readonly repeats?: readonly Sql[];
  /** SQL from FROM on: the rows of these hours. */
  from(hours: readonly Span[]): Sql;
  /**
   * The number of questions for which the store counts parts of the first hour; `COUNTED` by default. Each further hour
   * adds one question. After these, the hour is read whole.
   */
  readonly countedTimes?: number;
  /** True if hours that are too large for memory are answered in another way: they throw `TooLarge`. */
  readonly isLimited?: boolean;
  /** Returns the cache of an hour. */
  memoryOf(hour: Span): Cache;
}

/** For so many questions, the store counts parts of hours of events. */
export const COUNTED = 3;
/** The `countedTimes` of sessions: the two questions before read the hours of events. */
export const AFTER_EVENTS = COUNTED + 2;

/** A part of an hour, with the hour. */
export interface Cut<Part extends Span> {
  readonly part: Part;
  readonly hour: Hour;
}

/** The hour, its keys, and the columns of its rows. */
const ROW = rowOf([number, listOf(text)], listOf(number));
const NOTHING = new Hour(0, { keys: [], times: [], keyNumbers: [], others: [], repeats: [] });

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

/** Notes that the hours of the parts are asked for, and splits the parts: memory answers some, and the store the others. */
export function byTurn<Part extends Span>(source: HourSource, parts: readonly Part[]): Turns<Part> {
  const asked = new Set(
    startsOf(parts).filter((start, i) => {
      const { memory, key } = hourIn(source, start);
      return memory.get(key) !== undefined || memory.noteAsked(key, (source.countedTimes ?? COUNTED) + i);
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
      memory.set(key, own, own.numbers / 10 + own.keys.length);
    }
  }
  return parts.map((part) => ({ part, hour: found.get(floorTo(part.start, HOUR_MS)) ?? NOTHING }));
}

/**
 * Reads hours by column. The store numbers the texts of the rows: to send and compare each of them would take longer. One
 * array holds whole rows, because the values of two arrays may come in different orders.
 */
async function readHours(
  db: Database,
  { name, at, key, others, repeats = [], isLimited, from }: HourSource,
  hours: readonly Span[],
): Promise<ReadonlyMap<number, Hour>> {
  const numbers = [...others, ...repeats].map((value) => sql`toInt64(${value})`);
  const row = join([key, sql`at % ${int(HOUR_MS)}`, ...numbers]);
  const column = (i: number): Sql => sql`rows.${int(3 + i)}`;
  const same = repeats.map((_, i) => column(others.length + i));
  const columns = [
    sql`arrayMap(each -> toString(each), arrayDistinct((groupArray(one_row) AS rows).1 AS keys))`,
    sql`rows.2`,
    sql`arrayEnumerateDense(keys)`,
    ...others.map((_, i) => column(i)),
    ...(same.length === 0 ? [] : [sql`arrayEnumerateDense(${join(same)})`]),
  ];
  const query = {
    name,
    sql: sql`SELECT intDiv(at, ${int(HOUR_MS)}) * ${int(HOUR_MS)} AS hour, ${join(columns)}
FROM (SELECT ${at} AS at, (${row}) AS one_row ${from(hours)})
GROUP BY hour`,
    row: ROW,
  };
  const rows = await (isLimited === true ? rowsForMemory(db, query) : db.rows(query));
  return new Map(
    rows.map(([hour, keys, times = [], keyNumbers = [], ...more]) => {
      const [own, [repeated = []]] = [more.slice(0, others.length), more.slice(others.length)];
      return [hour, new Hour(hour, { keys, times, keyNumbers, others: own, repeats: repeated })];
    }),
  );
}
