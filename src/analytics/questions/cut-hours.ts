import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import { floorTo, HOUR_MS } from '../../domain/time.ts';
import type { EventFacts, Memory } from '../ask.ts';
import type { Span } from '../plan.ts';
import type { Ends } from './ranked.ts';

/*
 * The ends of a poller's range move on by milliseconds, within the same hours for an hour. From the second time on that a sealed hour
 * is cut at a new instant, all that it holds is brought once and kept so that any part of it is counted here.
 */

/** What a question needs of a sealed hour. */
export interface HourRows<Row extends readonly unknown[], Made extends object> {
  readonly name: string;
  /** Of the hour's rows, from `start` to `end` (exclusive). */
  sql(hour: Span): string;
  readonly row: z.ZodType<Row>;
  make(rows: readonly Row[], hour: number): Made;
}

/** A part of a sealed hour, and what is kept of the hour. */
interface CutHour<Made, Part extends Span = Span> {
  readonly part: Part;
  readonly kept: Made;
}

const hourOf = ({ start }: Span): number => floorTo(start, HOUR_MS);

/**
 * Of each of `parts`, which lie within a sealed hour each; null where one of these hours is cut for the first time. `kept`: what is
 * remembered of the facts or of the raw events that are read.
 */
export async function cutHours<Part extends Span, Row extends readonly unknown[], Made extends object>(
  db: Database,
  kept: Memory | EventFacts,
  parts: readonly Part[],
  { name, sql, row, make }: HourRows<Row, Made>,
): Promise<readonly CutHour<Made, Part>[] | null> {
  const hours = [...new Set(parts.map(hourOf))].map((start) => {
    const hour = { start, end: start + HOUR_MS };
    return { start, query: { name, sql: sql(hour), row }, memory: 'of' in kept ? kept.of([hour]) : kept };
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
      return parts.filter((part) => hourOf(part) === start).map((part) => ({ part, kept: own }));
    }),
  );
  return cut.flat();
}

/**
 * How ragged ends are loaded: from their hours where these are known. For ends that are asked for to the same ms again it is not worth
 * to bring their hours.
 */
export const fromHoursOr =
  <Rows>(fromHours: () => Promise<Rows | null>, read: () => Promise<Rows>) =>
  async (isRepeated: boolean): Promise<Rows> =>
    (isRepeated ? null : await fromHours()) ?? (await read());

/** Rows of ragged ends by list: kept where they are asked for to the same ms again. None without a query. */
export async function recallEnds<Row>(
  memory: Memory,
  query: Pick<Query<Row>, 'name' | 'sql'> | null,
  load: (isRepeated: boolean) => Promise<readonly Row[]>,
  byList: (rows: readonly Row[]) => ReadonlyMap<string, readonly Row[]>,
): Promise<Ends<Row>> {
  if (query === null) return { lists: byList([]), areKept: true };
  let areKept = true;
  const heard = (isRepeated: boolean): Promise<readonly Row[]> => {
    areKept = isRepeated;
    return load(isRepeated);
  };
  const lists = await memory.recallMade(query, heard, byList, 'when repeated');
  return { lists, areKept };
}

/** Instants (epoch ms) within an hour, in order. */
class Instants {
  readonly #hour: number;
  readonly #offsets: Uint32Array;

  /** `offsets` (ms) are counted from `hour`. */
  constructor(hour: number, offsets: readonly number[]) {
    this.#hour = hour;
    this.#offsets = Uint32Array.from(offsets).sort();
  }

  countIn({ start, end }: Span): number {
    return this.#before(end) - this.#before(start);
  }

  /** How many are earlier than `ms`. */
  #before(ms: number): number {
    return countBefore(this.#offsets, ms - this.#hour);
  }
}

/** How many rows of `width` numbers, in the order of their first one, begin with a lower one than `limit`. */
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

/** When each key occurred in an hour: `sql` brings keys, each with an array of offsets (ms) from the hour's start. */
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

/** How often each key occurred in a part of its hour, where it did. */
export const countedIn = <Key>({ part, kept }: CutHour<readonly Keyed<Key>[]>): (readonly [Key, number])[] =>
  kept.map(({ key, at }) => [key, at.countIn(part)] as const).filter(([, count]) => count > 0);

/** Pairs of an instant within an hour and another instant (epoch ms). */
class Pairs {
  readonly #flat: Float64Array;

  constructor(pairs: readonly (readonly [number, number])[]) {
    this.#flat = Float64Array.from(pairs.flat());
  }

  /** Those of the first instant in the span and the other earlier than `limit`. */
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

/** Pairs of instants by key, the first one in the hour: `sql` brings keys, each with an array of pairs. */
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
