import { join, type Sql, sql } from '../clickhouse/sql.ts';
import { epochMs, type Range } from '../domain/time.ts';
import type { SessionFacts } from './ask.ts';
import { type Grid, sinceOf, sinceSql, sliceOf, sliceSql } from './grid.ts';
import { type Hour, hoursOf } from './hours.ts';
import { TooManyLate } from './late.ts';
import { type Link, linksOf } from './links.ts';
import { mergedSessions } from './merged-sessions.ts';
import { NOTHING_OPEN, readOpen } from './open.ts';
import { type Plan, type Span, spanOf } from './plan.ts';
import { ROW, type Row } from './rows.ts';
import { keysOf, mergedFor, type Single, widthOf } from './singles.ts';
import { edgeRanges, inMs, int } from './sql.ts';
import type { OpenSession } from './visitors.ts';

/**
 * Counts sessions one by one: those of the plans' edges, and the open sessions of the grid's range. Returns a
 * row for each slice (its number), or for each key if the sessions have keys: the number of sessions, their
 * values, and the visitors and new visitors of each slice. New visitors are right only with `ever`, which
 * looks up all earlier sessions.
 */
export async function singlesOf(
  facts: SessionFacts,
  single: Single,
  grid: Grid,
  edges: readonly Span[],
  ever = false,
): Promise<Row[]> {
  const isSealed = grid.to < facts.until && facts.lateHours.length === 0;
  const [hours, open] = await Promise.all([
    hoursOf(facts.db, edgeSource(facts, single), edges),
    isSealed ? NOTHING_OPEN : readOpen(facts, single),
  ]);
  const sums = new Sums(single, grid);
  for (const { part, hour } of hours) sums.addHour(hour, part);
  if (open === null) {
    if (facts.lateHours.length > 0) throw new TooManyLate();
    return [...sums.rows(), ...(await countTail(facts, single, grid))];
  }
  sums.addSessions(open.unsealed);
  sums.addSessions(open.late);
  // Where a slice begins after the watermark, all sealed sessions lie before it.
  const isNeeded = (at: number): boolean => ever || sinceOf(grid, sliceOf(grid, at)) < facts.until;
  sums.addLinks(await linksOf(facts, single, open, isNeeded));
  return sums.rows();
}

/** The edges of the plans. */
export const edgesOf = (plans: readonly Plan[]): Span[] => plans.flatMap(edgeRanges).map(spanOf);

const edgeSource = ({ where, cache }: SessionFacts, single: Single) => ({
  name: `edges, ${single.name}`,
  at: sql`started_at`,
  key: single.keys === null ? sql`''` : sql`arrayJoin(${single.keys})`,
  others: [...(single.visits === null ? [] : [sql`prev`]), ...single.values],
  from: (hours: readonly Span[]) =>
    sql`FROM ${single.table} WHERE ${where} AND ${inMs(sql`started_at`, hours)}`,
  memoryOf: () => cache,
});

/** The sums of each row, by slice or by key. */
class Sums {
  readonly #single: Single;
  readonly #grid: Grid;
  readonly #width: number;
  readonly #sums = new Map<string | number, number[]>();

  constructor(single: Single, grid: Grid) {
    this.#single = single;
    this.#grid = grid;
    this.#width = widthOf(single);
  }

  /** Adds the sessions of a part of an hour. */
  addHour(hour: Hour, part: Span): void {
    const { keys, rows } = hour;
    const { visits, values } = this.#single;
    const value = visits === null ? 2 : 3;
    const byKey = new Array<number[] | undefined>(this.#single.keys === null ? 0 : keys.length);
    hour.forEach(part, (i) => {
      const at = rows[i] as number;
      const key = rows[i + 1] as number;
      const own = byKey[key] ?? this.#of(keys[key] as string, at);
      if (key < byKey.length) byKey[key] = own;
      own[0] = (own[0] as number) + 1;
      for (let n = 0; n < values.length; n++) {
        own[1 + n] = (own[1 + n] as number) + (rows[i + value + n] as number);
      }
      if (visits !== null) this.#addVisitor(own, at, rows[i + 2] as number, 1);
    });
  }

  addSessions(sessions: readonly OpenSession[]): void {
    const { from, to } = this.#grid;
    for (const { sign, startedAt, visitors, values } of sessions) {
      if (startedAt < from || startedAt > to) continue;
      for (const { key } of visitors) {
        const own = this.#of(key, startedAt);
        own[0] = (own[0] as number) + sign;
        for (let n = 0; n < values.length; n++) {
          own[1 + n] = (own[1 + n] as number) + sign * (values[n] as number);
        }
      }
    }
  }

  addLinks(links: readonly Link[]): void {
    const { from, to } = this.#grid;
    for (const { sign, key, startedAt, prev } of links) {
      if (startedAt < from || startedAt > to) continue;
      this.#addVisitor(this.#of(key, startedAt), startedAt, prev, sign);
    }
  }

  rows(): Row[] {
    return [...this.#sums].map(([key, sums]) => [`${key}`, ...sums]);
  }

  #addVisitor(own: number[], at: number, prev: number, sign: number): void {
    const visitors = this.#width - 2;
    if (prev < sinceOf(this.#grid, sliceOf(this.#grid, at))) own[visitors] = (own[visitors] as number) + sign;
    if (prev === -1) own[visitors + 1] = (own[visitors + 1] as number) + sign;
  }

  #of(key: string, at: number): number[] {
    const name = this.#single.keys === null ? sliceOf(this.#grid, at) : key;
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const own = new Array<number>(this.#width).fill(0);
    this.#sums.set(name, own);
    return own;
  }
}

/** Counts the unsealed sessions of the grid's range in the store. */
async function countTail(facts: SessionFacts, single: Single, grid: Grid): Promise<Row[]> {
  const tail = { from: epochMs(Math.max(grid.from, facts.until)), to: grid.to };
  if (tail.from > tail.to) return [];
  const slice = sliceSql(grid, sql`at`);
  const key = single.keys === null ? sql`toString(${slice})` : sql`key`;
  const values = single.values.map((_, i) => sql`sum(value${i})`);
  const visitors =
    single.visits === null ? [] : [sql`countIf(prev < ${sinceSql(grid, slice)})`, sql`countIf(prev = -1)`];
  return facts.db.rows(
    {
      name: `tail, ${single.name}`,
      sql: sql`SELECT ${join([sql`${key} AS name`, sql`count()`, ...values, ...visitors])}
FROM (${tailRows(facts, single, tail)}) GROUP BY name`,
      row: ROW,
    },
    { parallel: true },
  );
}

/** SQL of the tail's sessions, one row (at, key, value0 …) for each key; with prev if visitors are counted. */
export function tailRows(facts: SessionFacts, single: Single, tail: Range): Sql {
  const { where, until } = facts;
  const { visits, values } = single;
  const named = values.map((value, i) => sql`${value} AS value${i}`);
  const rowsOf = (range: Range, visitor: Sql) =>
    sql`SELECT toUnixTimestamp64Milli(started_at) AS at, session, ${visitor}${join([sql`arrayJoin(${keysOf(single)}) AS key`, ...named])}
    FROM (${mergedSessions(facts, range, mergedFor([single]))})`;
  if (visits === null) return rowsOf(tail, sql``);
  // Earlier sessions of the tail are the prev of later ones.
  const all = { from: until, to: tail.to };
  return sql`SELECT * FROM
(
    SELECT *, lagInFrame(at, 1, toInt64(-1)) OVER (PARTITION BY visitor, key ORDER BY at, session
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS prev
    FROM
    (
        ${rowsOf(all, sql`visitor, `)}
        UNION ALL
        SELECT max(started_at), 0, visitor, ${join([sql`${visits.key} AS key`, ...values.map(() => sql`0`)])} FROM ${visits.table}
        WHERE ${where} AND started_at < ${int(until)} AND visitor IN (SELECT visitor FROM (${mergedSessions(facts, all, ['visitor'])}))
        GROUP BY visitor, key
    )
)
WHERE at >= ${int(tail.from)}`;
}
