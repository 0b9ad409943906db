import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import type { Facts, SessionFacts } from '../ask.ts';
import { visitsIn } from '../late-sessions.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Plan, planReturns, type ReturnsPlan, type Span } from '../plan.ts';
import { anyOf, bucket, hoursPeriodOf, inMs, inSpans, int, isEmpty, periodOf, unionAll } from '../sql.ts';
import { cutHours, fromHoursOr, type HourRows, type KeyedPairs } from './cut-hours.ts';
import { returnsOfHour } from './session-hours.ts';

/** The tables of returning sessions: of visitors, or of visitors and campaigns. */
interface ReturnTables {
  readonly pairs: string;
  readonly byPrev: string;
  readonly byStart: string;
}

/**
 * A count of returning sessions in one table: `n` is the count, `at` the instant (epoch ms) whose range it
 * belongs to.
 */
interface Returns {
  readonly n: string;
  readonly at: string;
  readonly table: string;
  /** SQL conditions: rows of whole hours, and rows of the left edges. */
  readonly inHours: readonly string[];
  readonly atTheStart: readonly string[];
}

/**
 * Returns the counts of sealed sessions with an earlier session of the same visitor in the same range, each
 * counted once. Sessions in the right edge are not included: `returnedAtTheEnd` counts them with the edge's
 * other sums.
 */
function returnsIn(plans: readonly Plan[], tables: ReturnTables): Returns[] {
  const pieces = plans.map(planReturns);
  const where = (
    place: 'days' | 'byPrev' | 'byStart' | 'first',
    condition: (piece: ReturnsPlan) => string,
  ): string[] => pieces.filter((piece) => !isEmpty(piece[place])).map(condition);
  return [
    {
      n: 'sum(sessions)',
      at: 'toUnixTimestamp(day) * 1000',
      table: tables.pairs,
      inHours: where('days', ({ days }) => `${inSpans('day', [days])} AND prev_day >= ${bucket(days.start)}`),
      atTheStart: [],
    },
    {
      n: 'count()',
      at: 'prev',
      table: tables.byPrev,
      inHours: where(
        'byPrev',
        (piece) => `${inMs('prev', [piece.byPrev])} AND started_at < ${int(piece.hoursEnd)}`,
      ),
      atTheStart: where('first', ({ first, end }) => `${inMs('prev', [first])} AND started_at < ${int(end)}`),
    },
    {
      n: 'count()',
      at: 'started_at',
      table: tables.byStart,
      inHours: where(
        'byStart',
        (piece) => `${inMs('started_at', [piece.byStart])} AND prev >= ${int(piece.prevFrom)}`,
      ),
      atTheStart: [],
    },
  ];
}

/** The parts of a statement about returning sessions. */
interface ReturnsParts {
  readonly n: string;
  /** The index of the plan. */
  readonly period: string;
  readonly from: string;
}

/**
 * Returns the rows of all statements that count returning sessions. Whole hours that are asked for again are
 * cached separately from the edges.
 */
export async function askReturns<Row, Key>(
  { db, facts, plans, tables }: AskedReturns,
  { queryOf, load, byPrev, rowOf }: AskReturns<Row, Key>,
): Promise<Row[]> {
  const statement = (
    { n, at, table }: Returns,
    conditions: readonly string[],
    period: (at: string, plans: readonly Plan[]) => string,
  ): Query<Row> =>
    queryOf({
      n,
      period: period(at, plans),
      from: `FROM ${table} WHERE ${facts.where} AND ${anyOf(conditions)}`,
    });
  const ask = (returns: Returns): Promise<readonly Row[]>[] => {
    const { inHours, atTheStart } = returns;
    const hours = statement(returns, inHours, hoursPeriodOf);
    const start = statement(returns, atTheStart, periodOf);
    if (atTheStart.length > 0 && inHours.length > 0 && !facts.isRepeated(hours)) {
      facts.isRepeated(start);
      return [load(statement(returns, [...inHours, ...atTheStart], periodOf))];
    }
    return [
      ...(inHours.length === 0 ? [] : [facts.recall(hours, () => load(hours))]),
      ...(atTheStart.length === 0
        ? []
        : [
            facts.recall(
              start,
              fromHoursOr(startsOfHours, () => load(start)),
              'when repeated',
            ),
          ]),
    ];
  };
  const startsOfHours = async (): Promise<Row[] | null> => {
    const starts = plans
      .map(planReturns)
      .map(({ first, end }, period) => ({ ...first, startedBefore: end, period }))
      .filter((part) => !isEmpty(part));
    const cut = await cutHours(db, facts, starts, byPrev);
    return (
      cut?.flatMap(({ part, hour }) =>
        hour.flatMap(({ key, pairs }) => {
          const sessions = pairs.countIn(part, part.startedBefore);
          return sessions === 0 ? [] : [rowOf(part.period, key, sessions)];
        }),
      ) ?? null
    );
  };
  return (await Promise.all(returnsIn(plans, tables).flatMap(ask))).flat();
}

/** How to ask for returning sessions. */
interface AskReturns<Row, Key> {
  queryOf(parts: ReturnsParts): Query<Row>;
  load(query: Query<Row>): Promise<readonly Row[]>;
  /** Loads the pairs (prev, start) by key, by the hour of prev. */
  readonly byPrev: HourRows<
    readonly [Key, readonly (readonly [number, number])[]],
    readonly KeyedPairs<Key>[]
  >;
  /** Makes a row for returning `sessions` of a key in a period. */
  rowOf(period: number, key: Key, sessions: number): Row;
}

interface AskedReturns {
  readonly db: Database;
  readonly facts: Facts;
  readonly plans: readonly Plan[];
  readonly tables: ReturnTables;
}

/**
 * SQL condition on `session_facts` in the plans' edges: the session returned and is in the right edge, so no
 * other place of `planReturns` counts it.
 */
export const returnedAtTheEnd = (plans: readonly Plan[]): string =>
  anyOf(
    plans
      .map(planReturns)
      .filter(({ last }) => !isEmpty(last))
      .map(({ last, afterFirst }) => `${inMs('started_at', [last])} AND prev >= ${int(afterFirst)}`),
  );

/**
 * Returns the bound for an edge: its sessions with prev before the bound count as visitors. Only in the right
 * edge some do not.
 */
export function prevBeforeIn(plan: Plan, edge: Span): number {
  const { last, afterFirst } = planReturns(plan);
  return edge.start === last.start ? afterFirst : Number.POSITIVE_INFINITY;
}

const COUNT = z.object({ n: z.number() });
const RETURNING = z.object({ period: z.number(), visitors: z.number() });

const RETURN_TABLES = { pairs: 'return_pairs', byPrev: 'session_returns', byStart: 'session_facts' };

/** Corrections: −1 visitor for each returning session before the right edge (see `returnedAtTheEnd`). */
export const returningSessions = (db: Database, facts: Facts, plans: readonly Plan[]) =>
  askReturns(
    { db, facts, plans, tables: RETURN_TABLES },
    {
      queryOf: ({ n, period, from }) => ({
        name: 'returning sessions',
        sql: `SELECT ${period} AS period, -toInt64(${n}) AS visitors ${from} GROUP BY period`,
        row: RETURNING,
      }),
      load: (query) => db.query(query),
      byPrev: returnsOfHour(facts),
      rowOf: (period, _key, sessions) => ({ period, visitors: -sessions }),
    },
  );

const KNOWN = z.object({ known: z.number(), inRange: z.number() });
/** Visitors of the tail who came before it at all (only correct if wanted), and in the range. */
export type Known = z.infer<typeof KNOWN>;

/**
 * Counts the distinct visitors of the tail who came before it: at all, and in the range. If the range begins
 * after the watermark, raw rows answer for the time between.
 */
export async function tailReturns(
  db: Database,
  facts: SessionFacts,
  { watermark, range }: Plan,
  tail: Range,
  ever: boolean,
): Promise<Known> {
  const visitors = `SELECT visitor FROM (${mergedSessions(facts, tail, ['visitor'])})`;
  const before = { start: ever ? 0 : range.from, end: watermark };
  const sealed =
    before.start < before.end
      ? `SELECT visitor, started_at AS at FROM (${visitsIn(facts, await facts.late(), before)})
    WHERE visitor IN (${visitors})`
      : null;
  const between =
    ever && watermark < tail.from
      ? `SELECT visitor, toUnixTimestamp64Milli(started_at) AS at
    FROM (${mergedSessions(facts, { from: watermark, to: epochMs(tail.from - 1) }, ['visitor'])})
    WHERE visitor IN (${visitors})`
      : null;
  const rows = unionAll([sealed, between], '');
  if (rows === '') return { known: 0, inRange: 0 };
  const sql = `SELECT count() AS known, countIf(last >= ${int(range.from)}) AS inRange
FROM (SELECT max(at) AS last FROM (${rows}) GROUP BY visitor)`;
  return db.queryOne({ name: 'returning in the tail', sql, row: KNOWN }, {}, { parallel: true });
}

const DAY_ROW = z.object({ day: z.number(), sessions: z.number(), visitors: z.number() });

/**
 * Returns the tail's sessions by UTC day, and the visitors without those who came in the sealed part of the
 * day (from `from` on).
 */
export async function tailByDay(db: Database, facts: SessionFacts, tail: Range, from: number) {
  const rows = mergedSessions(facts, tail, ['visitor']);
  const counted = db.query(
    {
      name: 'growth tail',
      sql: `SELECT intDiv(toUnixTimestamp64Milli(started_at), 86400000) AS day, count() AS sessions, uniqExact(visitor) AS visitors
FROM (${rows}) GROUP BY day`,
      row: DAY_ROW,
    },
    {},
    { parallel: true },
  );
  const day = Math.floor(tail.from / DAY_MS);
  const sealedFrom = Math.max(day * DAY_MS, from);
  const lastOfDay = Math.min(tail.to, (day + 1) * DAY_MS - 1);
  const known =
    sealedFrom < tail.from
      ? db.queryOne(
          {
            name: 'growth tail, known',
            sql: `SELECT uniqExact(visitor) AS n FROM (${visitsIn(facts, await facts.late(), { start: sealedFrom, end: tail.from })})
WHERE visitor IN (SELECT visitor FROM (${mergedSessions(facts, { from: tail.from, to: epochMs(lastOfDay) }, ['visitor'])}))`,
            row: COUNT,
          },
          {},
          { parallel: true },
        )
      : { n: 0 };
  const [days, { n }] = await Promise.all([counted, known]);
  return days.map((row) => (row.day === day ? { ...row, visitors: row.visitors - n } : row));
}
