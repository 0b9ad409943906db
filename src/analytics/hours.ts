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

/** The rows of an hour in order of time. */
export class Hour {
  readonly keys: readonly string[];
  /** Of each row: `at`, the number of its key, and its other numbers. */
  readonly rows: Float64Array;
  readonly width: number;

  /** `byKey`: for each key, `at` and the other numbers of each row, as one flat array. */
  constructor(byKey: ReadonlyMap<string, readonly number[]>, others: number) {
    const width = others + 1;
    this.keys = [...byKey.keys()];
    this.width = width + 1;
    const found: number[] = [];
    for (const [key, numbers] of [...byKey.values()].entries()) {
      for (let i = 0; i < numbers.length; i += width) {
        found.push(numbers[i] as number, key);
        for (let other = 1; other < width; other++) found.push(numbers[i + other] as number);
      }
    }
    this.rows = sorted(found, this.width);
  }

  /** Returns the positions of the rows in the part: the first, and the end. */
  within({ start, end }: Span): readonly [number, number] {
    return [this.#before(start), this.#before(end)];
  }

  /** Counts the rows of a part by key. `isCounted` gets the position of a row; all count by default. */
  countByKey(part: Span, isCounted: (at: number) => boolean = () => true): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const [first, end] = this.within(part);
    for (let i = first; i < end; i += this.width) {
      const key = this.keys[this.rows[i + 1] as number] as string;
      if (isCounted(i)) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  /** Returns the position of the first row from `ms` on. */
  #before(ms: number): number {
    let [low, high] = [0, this.rows.length / this.width];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.rows[middle * this.width] as number) < ms) low = middle + 1;
      else high = middle;
    }
    return low * this.width;
  }
}

/** More rows than an hour has. Numbers of this many rows and of milliseconds in an hour fit in one number. */
const MOST_ROWS = 2 ** 24;

/** Sorts the rows by their first number. */
function sorted(rows: readonly number[], width: number): Float64Array {
  const count = rows.length / width;
  const first = floorTo(rows[0] ?? 0, HOUR_MS);
  const order = new Float64Array(count);
  for (let i = 0; i < count; i++) order[i] = ((rows[i * width] as number) - first) * MOST_ROWS + i;
  order.sort();
  const found = new Float64Array(rows.length);
  for (const [place, number] of order.entries()) {
    const from = (number % MOST_ROWS) * width;
    for (let i = 0; i < width; i++) found[place * width + i] = rows[from + i] as number;
  }
  return found;
}

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
const NOTHING = new Hour(new Map(), 0);

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
      const own = read.get(hour.start) ?? NOTHING;
      found.set(hour.start, own);
      memory.set(key, own, own.rows.length / 10 + own.keys.length);
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
  const byHour = new Map<number, Map<string, readonly number[]>>();
  for (const [hour, key, numbers] of rows) {
    byHour.set(hour, (byHour.get(hour) ?? new Map<string, readonly number[]>()).set(key, numbers));
  }
  return new Map([...byHour].map(([hour, byKey]) => [hour, new Hour(byKey, others.length)]));
}
