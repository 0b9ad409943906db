import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import { floorTo, HOUR_MS } from '../domain/time.ts';
import type { Cache } from '../facts/memory.ts';
import type { Span } from './plan.ts';
import { int } from './sql.ts';

/*
 * Edges are answered from whole hours in memory. While a poller's range moves by milliseconds, its edges stay
 * within the same hours, and any part of an hour is counted here, without a statement.
 */

/** The rows of an hour by key, as one flat array: `at` and the other numbers of each row. */
export type Hour = ReadonlyMap<string, Float64Array>;

/** What is read of an hour. */
export interface HourSource {
  readonly name: string;
  /** SQL of a row's instant (epoch ms), of its keys (Array(String)), and of its other numbers (integers). */
  readonly at: string;
  readonly keys: string;
  readonly others: readonly string[];
  /** SQL from FROM on: the rows of these hours. */
  from(hours: readonly Span[]): string;
  /** The memory for an hour. */
  memoryOf(hour: Span): Cache;
}

/** A part of an hour, with the hour. */
export interface Cut<Part extends Span> {
  readonly part: Part;
  readonly hour: Hour;
}

const ROW = z.tuple([z.number(), z.string(), z.array(z.number())]);
const NOTHING: Hour = new Map();

/** Returns the hour of each part. A part lies within one hour. */
export async function hoursOf<Part extends Span>(
  db: Database,
  source: HourSource,
  parts: readonly Part[],
): Promise<Cut<Part>[]> {
  const starts = [...new Set(parts.map(({ start }) => floorTo(start, HOUR_MS)))];
  const hours = starts.map((start) => {
    const hour = { start, end: start + HOUR_MS };
    return { hour, key: `${source.name} ${source.from([hour])}`, memory: source.memoryOf(hour) };
  });
  const found = new Map(hours.map(({ hour, key, memory }) => [hour.start, memory.get<Hour>(key)]));
  const unknown = hours.filter(({ hour }) => found.get(hour.start) === undefined);
  if (unknown.length > 0) {
    const read = await readHours(
      db,
      source,
      unknown.map(({ hour }) => hour),
    );
    for (const { hour, key, memory } of unknown) {
      const rows = read.get(hour.start) ?? NOTHING;
      found.set(hour.start, rows);
      let numbers = 0;
      for (const own of rows.values()) numbers += own.length + 10;
      memory.set(key, rows, numbers / 10);
    }
  }
  return parts.map((part) => ({ part, hour: found.get(floorTo(part.start, HOUR_MS)) ?? NOTHING }));
}

async function readHours(
  db: Database,
  { name, at, keys, others, from }: HourSource,
  hours: readonly Span[],
): Promise<ReadonlyMap<number, Hour>> {
  const rows = await db.rows({
    name,
    sql: `SELECT intDiv(at, ${int(HOUR_MS)}) * ${int(HOUR_MS)} AS hour, key, groupArrayArray(row) FROM
(
    SELECT ${at} AS at, arrayJoin(${keys}) AS key, [${['at', ...others].map((number) => `toInt64(${number})`).join(', ')}] AS row ${from(hours)}
)
GROUP BY hour, key`,
    row: ROW,
  });
  const found = new Map<number, Map<string, Float64Array>>();
  for (const [hour, key, numbers] of rows) {
    const own = found.get(hour) ?? new Map<string, Float64Array>();
    found.set(hour, own.set(key, Float64Array.from(numbers)));
  }
  return found;
}
