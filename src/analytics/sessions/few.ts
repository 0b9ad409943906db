import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { closed, type SessionFacts } from '../input/app-facts.ts';
import { pendingSessions } from '../late/pending.ts';
import type { Row } from '../memory/rows.ts';
import { type Grid, sliceOf } from '../range/grid.ts';
import { int, uInt128s } from '../range/sql.ts';
import { columnsOf, keysOf, type Measure, type Visits, widthOf } from './measures.ts';

/*
 * The pending sessions of a version as a measure needs them, for all questions about it. While events come in, a poller asks
 * many questions about each version, and to plan a statement takes longer than to count some thousand sessions.
 */

/** If more sessions are pending, the store counts them. */
const MOST = 20_000;

/** About how many small values a session takes in memory. */
const VALUES = 6;

/** SQL of a visitor (UInt128) as text. */
const NAME = sql`base64Encode(reinterpretAsFixedString(visitor))`;

/** Sign, start (epoch ms), visitor ('' if visitors are not counted), keys, and the values of the measure. */
const SESSION = rowOf([number, number, text, listOf(text)], number);
type Session = ReturnType<typeof SESSION.parse>;
const FIRST_VALUE = 4;

/**
 * Returns the pending sessions of the app that the measure counts, read once for each version; null if they are too many, or if
 * `sessions` does not hold all of them. Throws `TooManyLate`.
 */
async function readFew(facts: SessionFacts, measure: Measure): Promise<readonly Session[] | null> {
  const { db, app, version, live, until, keptFrom } = facts;
  const { name, keys, values, visits } = measure;
  if (until < keptFrom) return null;
  const read = async () => {
    const pending = await pendingSessions(facts);
    const sessions = pending.rows(closed({ from: null, to: null }), columnsOf(measure));
    if (sessions === null) return [];
    const columns = [
      sql`sign`,
      sql`toUnixTimestamp64Milli(started_at)`,
      visits === null ? sql`''` : NAME,
      keysOf(measure),
      ...values.map((value) => sql`toInt64(${value})`),
    ];
    const counted = keys === null ? sql`` : sql` WHERE notEmpty(${keys})`;
    const query = {
      name: `pending sessions, ${name}`,
      sql: sql`SELECT ${join(columns)} FROM (${sessions})${counted} LIMIT ${MOST + 1}`,
      row: SESSION,
    };
    const rows = await db.rows(query, { parallel: true }, pending.params);
    return rows.length > MOST ? null : rows;
  };
  return live.latest(`pending ${name} ${app}`, version, read, (rows) => VALUES * (rows?.length ?? 0));
}

/** How often a visitor comes: now, and as the facts have it. */
interface Visited {
  now: number;
  held: number;
}

/**
 * Counts what the pending sessions change, as `countInStore` does. Null if they or the sealed sessions of their visitors are too
 * many, which is kept in mind until the next sealing. Throws `TooManyLate`.
 */
export async function countFew(facts: SessionFacts, measure: Measure, grid: Grid): Promise<Row[] | null> {
  const tooMany = `too many, ${measure.name} ${facts.app}`;
  if (facts.live.get(tooMany) !== undefined) return null;
  const sessions = await readFew(facts, measure);
  const rows = sessions && (await countRows(facts, measure, grid, sessions));
  if (rows === null) facts.live.set(tooMany, {}, 0);
  return rows;
}

/** Null if the sealed sessions of the visitors are too many. */
async function countRows(
  facts: SessionFacts,
  measure: Measure,
  grid: Grid,
  sessions: readonly Session[],
): Promise<Row[] | null> {
  const sums = new Map<string, number[]>();
  const width = widthOf(measure);
  const rowFor = (key: string, at: number): number[] => {
    const name = measure.keys === null ? `${sliceOf(grid, at)}` : key;
    const known = sums.get(name);
    if (known !== undefined) return known;
    const own = new Array<number>(width).fill(0);
    sums.set(name, own);
    return own;
  };
  const add = (own: number[], i: number, n: number): void => {
    own[i] = (own[i] as number) + n;
  };
  const isIn = (at: number): boolean => at >= grid.from && at <= grid.to;
  for (const session of sessions) {
    const [sign, at, , keys] = session;
    if (!isIn(at)) continue;
    for (const key of keys) {
      const own = rowFor(key, at);
      add(own, 0, sign);
      for (let n = 0; n < measure.values.length; n++) {
        add(own, 1 + n, sign * (session[FIRST_VALUE + n] as number));
      }
    }
  }
  if (measure.visits !== null) {
    const all = await visitsOf(facts, measure.name, measure.visits, sessions);
    if (all === null) return null;
    for (const [key, visits] of all) {
      const before: Visited = { now: 0, held: 0 };
      const slices = new Map<number, Visited & { readonly at: number }>();
      for (const { at, now, held } of visits) {
        if (at > grid.to) continue;
        const slice = sliceOf(grid, at);
        let own: Visited | undefined = isIn(at) ? slices.get(slice) : before;
        if (own === undefined) {
          const first = { at, now: 0, held: 0 };
          slices.set(slice, first);
          own = first;
        }
        own.now += now;
        own.held += held;
      }
      for (const { at, now, held } of slices.values()) {
        const own = rowFor(key, at);
        add(own, width - 2, Number(now > 0) - Number(held > 0));
        add(own, width - 1, Number(now > 0 && before.now === 0) - Number(held > 0 && before.held === 0));
      }
    }
  }
  return [...sums].map(([name, own]): Row => [name, ...own]);
}

type Visit = Visited & { readonly at: number };

/** Returns the pending and the sealed visits of each visitor with pending ones, by key; null if they are too many. */
async function visitsOf(
  facts: SessionFacts,
  name: string,
  visits: Visits,
  sessions: readonly Session[],
): Promise<(readonly [key: string, visits: readonly Visit[]])[] | null> {
  const visitors = new Map<string, Map<string, Visit[]>>();
  for (const [sign, at, visitor, keys] of sessions) {
    for (const key of keys) {
      const own = visitors.get(visitor) ?? new Map<string, Visit[]>();
      visitors.set(visitor, own);
      const visit = { at, now: sign, held: 0 };
      const known = own.get(key);
      if (known === undefined) own.set(key, [visit]);
      else known.push(visit);
    }
  }
  const sealed = await sealedStarts(facts, name, visits, [...visitors.keys()]);
  if (sealed === null) return null;
  return [...visitors].flatMap(([visitor, byKey]) =>
    [...byKey].map(([key, own]) => {
      const starts = sealed.get(visitor)?.find(([of]) => of === key)?.[1] ?? [];
      return [key, [...own, ...starts.map((at) => ({ at, now: 1, held: 1 }))]] as const;
    }),
  );
}

const STARTS = rowOf([text, text, listOf(number)]);
type Starts = readonly (readonly [key: string, starts: readonly number[]])[];
/** Up to this many visitors are found by the index. For more, the table is read on all cores. */
const FEW_VISITORS = 200;
/** Bytes of text, and sealed sessions of all visitors. */
const MOST_TEXT = 8 * 1024 ** 2;
const MOST_STARTS = 500_000;

class TooMany extends Error {}

/**
 * Returns the starts of the visitors' sealed sessions; null if they are too many. They are kept: they change with sealing
 * alone.
 */
async function sealedStarts(
  { db, app, where, until, cache }: SessionFacts,
  name: string,
  { table, key }: Visits,
  visitors: readonly string[],
): Promise<ReadonlyMap<string, Starts> | null> {
  const read = async (names: readonly string[]): Promise<ReadonlyMap<string, Starts>> => {
    const isFew = names.length <= FEW_VISITORS;
    const own = sql`${where} AND started_at < ${int(until)} AND visitor IN (SELECT arrayJoin(${uInt128s(names)}))`;
    // Only this table is sorted by visitor. The others are sorted by the start.
    const byStart = sql`AND started_at IN (SELECT started_at FROM visitor_sessions WHERE ${own})`;
    const statement: Sql = sql`SELECT ${NAME}, ${key} AS key, groupArray(started_at) FROM ${table}
WHERE ${own} ${isFew ? byStart : sql``} GROUP BY visitor, key`;
    const query = { name: `visits, ${name}`, sql: statement, row: STARTS };
    const rows = await db.rowsUpTo(query, MOST_TEXT, { searches: isFew, parallel: !isFew });
    if (rows === null) throw new TooMany();
    const found = new Map<string, (readonly [string, readonly number[]])[]>(names.map((each) => [each, []]));
    for (const [visitor, of, starts] of rows) found.get(visitor)?.push([of, starts]);
    return found;
  };
  const sizeOf = (all: Starts): number => all.reduce((sum, [, starts]) => sum + 1 + starts.length, 0);
  try {
    const found = await cache.recallEach(`visits ${app} ${name}`, visitors, read, sizeOf);
    const count = visitors.reduce((sum, visitor) => sum + sizeOf(found.get(visitor) ?? []), 0);
    return count > MOST_STARTS ? null : found;
  } catch (error) {
    if (error instanceof TooMany) return null;
    throw error;
  }
}
