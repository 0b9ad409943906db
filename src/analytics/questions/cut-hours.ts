import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import { floorTo, HOUR_MS } from '../../domain/time.ts';
import type { EventFacts, Memory } from '../ask.ts';
import type { Span } from '../plan.ts';
import type { EdgeLists } from './ranked.ts';

/*
 * Answers edges from cached hours. While a poller's range moves by milliseconds, its edges stay within the
 * same hours. From the second time on that an edge lies in a sealed hour at other milliseconds, the whole
 * hour is loaded and cached. Any part of the hour is then counted here, without a statement.
 */

/** How to load a sealed hour for a question. */
export interface HourRows<Row extends readonly unknown[], Made extends object> {
  readonly name: string;
  /** SQL of the rows of the hour, from `start` to `end` (exclusive). */
  sql(hour: Span): string;
  readonly row: z.ZodType<Row>;
  make(rows: readonly Row[], hour: number): Made;
}

/** A part of a sealed hour, with the cached hour. */
interface CutHour<Made, Part extends Span = Span> {
  readonly part: Part;
  readonly hour: Made;
}

const hourOf = ({ start }: Span): number => floorTo(start, HOUR_MS);

/**
 * Returns the hours of `parts`, each of which lies within one sealed hour; null if one of these hours is
 * asked for the first time. `memory` is the cache of the facts or raw events that are read.
 */
export async function cutHours<Part extends Span, Row extends readonly unknown[], Made extends object>(
  db: Database,
  memory: Memory | EventFacts,
  parts: readonly Part[],
  { name, sql, row, make }: HourRows<Row, Made>,
): Promise<readonly CutHour<Made, Part>[] | null> {
  const hours = [...new Set(parts.map(hourOf))].map((start) => {
    const hour = { start, end: start + HOUR_MS };
    return {
      start,
      query: { name, sql: sql(hour), row },
      memory: 'of' in memory ? memory.of([hour]) : memory,
    };
  });
  const isRepeated = hours.map(({ query, memory }) => memory.isRepeated(query));
  if (isRepeated.includes(false)) return null;
  const cut = await Promise.all(
    hours.map(async ({ start, query, memory }) => {
      const own = await memory.recallMade(
        query,
        () => db.rows(query),
        (rows) => make(rows, start),
      );
      return parts.filter((part) => hourOf(part) === start).map((part) => ({ part, hour: own }));
    }),
  );
  return cut.flat();
}

/**
 * Loads edges from their cached hours if possible. If an edge is repeated to the ms (`isRepeated`), it is
 * cached itself, and loading its hour does not pay.
 */
export const fromHoursOr =
  <Rows>(fromHours: () => Promise<Rows | null>, read: () => Promise<Rows>) =>
  async (isRepeated: boolean): Promise<Rows> =>
    (isRepeated ? null : await fromHours()) ?? (await read());

/** Returns the rows of edges by list, cached when the same ms are asked for again. Empty without a query. */
export async function recallEdges<Row>(
  memory: Memory,
  query: Pick<Query<Row>, 'name' | 'sql'> | null,
  load: (isRepeated: boolean) => Promise<readonly Row[]>,
  byList: (rows: readonly Row[]) => ReadonlyMap<string, readonly Row[]>,
): Promise<EdgeLists<Row>> {
  if (query === null) return { lists: byList([]), areCached: true };
  let areCached = true;
  const heard = (isRepeated: boolean): Promise<readonly Row[]> => {
    areCached = isRepeated;
    return load(isRepeated);
  };
  const lists = await memory.recallMade(query, heard, byList, 'when repeated');
  return { lists, areCached };
}

/** Sorted instants (epoch ms) within an hour. */
class Instants {
  readonly #hour: number;
  readonly #offsets: Uint32Array;

  /** `offsets` are ms after `hour`. */
  constructor(hour: number, offsets: readonly number[]) {
    this.#hour = hour;
    this.#offsets = Uint32Array.from(offsets).sort();
  }

  countIn({ start, end }: Span): number {
    return this.#before(end) - this.#before(start);
  }

  /** Counts the instants before `ms`. */
  #before(ms: number): number {
    return countBefore(this.#offsets, ms - this.#hour);
  }
}

/**
 * Counts the rows whose first number is less than `limit`. Rows have `width` numbers each and are sorted by
 * the first.
 */
export function countBefore(rows: ArrayLike<number>, limit: number, width = 1): number {
  let [low, high] = [0, rows.length / width];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle * width] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Keyed<Key> {
  readonly key: Key;
  readonly at: Instants;
}

/**
 * Loads the instants of each key in an hour. `sql` returns keys, each with an array of offsets (ms after the
 * hour's start).
 */
export const instantsByKey = <Key>(
  name: string,
  key: z.ZodType<Key>,
  sql: (hour: Span) => string,
): HourRows<readonly [Key, readonly number[]], readonly Keyed<Key>[]> => ({
  name,
  sql,
  row: z.tuple([key, z.array(z.number())]),
  make: (rows, hour) => rows.map(([key, offsets]) => ({ key, at: new Instants(hour, offsets) })),
});

/** Counts the instants of each key in a part of the hour, without keys that have none. */
export const countedIn = <Key>({ part, hour }: CutHour<readonly Keyed<Key>[]>): (readonly [Key, number])[] =>
  hour.map(({ key, at }) => [key, at.countIn(part)] as const).filter(([, count]) => count > 0);

/** Pairs of an instant within an hour and another instant (epoch ms). */
class Pairs {
  readonly #flat: Float64Array;

  constructor(pairs: readonly (readonly [number, number])[]) {
    this.#flat = Float64Array.from(pairs.flat());
  }

  /** Counts the pairs with the first instant in the span and the second before `limit`. */
  countIn({ start, end }: Span, limit: number): number {
    let count = 0;
    for (let i = 0; i < this.#flat.length; i += 2) {
      const at = this.#flat[i] as number;
      if (at >= start && at < end && (this.#flat[i + 1] as number) < limit) count++;
    }
    return count;
  }
}

export interface KeyedPairs<Key> {
  readonly key: Key;
  readonly pairs: Pairs;
}

/**
 * Loads pairs of instants by key, the first one within the hour. `sql` returns keys, each with an array of
 * pairs.
 */
export const pairsByKey = <Key>(
  name: string,
  key: z.ZodType<Key>,
  sql: (hour: Span) => string,
): HourRows<readonly [Key, readonly (readonly [number, number])[]], readonly KeyedPairs<Key>[]> => ({
  name,
  sql,
  row: z.tuple([key, z.array(z.tuple([z.number(), z.number()]))]),
  make: (rows) => rows.map(([own, pairs]) => ({ key: own, pairs: new Pairs(pairs) })),
});
