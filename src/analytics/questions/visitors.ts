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

/** Where sealed sessions are found whose visitor came before: the same three places for visitors at all and by campaign. */
interface ReturnTables {
  readonly pairs: string;
  readonly byPrev: string;
  readonly byStart: string;
}

/** A count of returning sessions by `n`, each in the range that `at` (epoch ms) lies in, in one of the places. */
interface Returns {
  readonly n: string;
  readonly at: string;
  readonly table: string;
  /** Conditions on whole hours, and on the first edges. */
  readonly inHours: readonly string[];
  readonly atTheStart: readonly string[];
}

/**
 * What counts the sealed sessions that have an earlier one of their visitor in the same range, each once; but for those that started
 * in the last edge: they are counted with its other sums, by `returnedAtTheEnd`.
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

/** What a statement of returning sessions is made of. */
interface ReturnsParts {
  readonly n: string;
  /** Which of the plans. */
  readonly period: string;
  readonly from: string;
}

/** The rows of all statements that count returning sessions: hours that are asked for again are remembered apart from the edges. */
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
      cut?.flatMap(({ part, kept }) =>
        kept.flatMap(({ key, pairs }) => {
          const sessions = pairs.countIn(part, part.startedBefore);
          return sessions === 0 ? [] : [rowOf(part.period, key, sessions)];
        }),
      ) ?? null
    );
  };
  return (await Promise.all(returnsIn(plans, tables).flatMap(ask))).flat();
}

/** How returning sessions are asked for. */
interface AskReturns<Row, Key> {
  queryOf(parts: ReturnsParts): Query<Row>;
  load(query: Query<Row>): Promise<readonly Row[]>;
  /** By key the pairs (prev, start) of an hour of prev. */
  readonly byPrev: HourRows<
    readonly [Key, readonly (readonly [number, number])[]],
    readonly KeyedPairs<Key>[]
  >;
  /** `sessions` of the key returned in the period. */
  rowOf(period: number, key: Key, sessions: number): Row;
}

interface AskedReturns {
  readonly db: Database;
  readonly facts: Facts;
  readonly plans: readonly Plan[];
  readonly tables: ReturnTables;
}

/** Of facts by start in the plans' edges: the visitor returned, and no other place of `planReturns` counts it. */
export const returnedAtTheEnd = (plans: readonly Plan[]): string =>
  anyOf(
    plans
      .map(planReturns)
      .filter(({ last }) => !isEmpty(last))
      .map(({ last, afterFirst }) => `${inMs('started_at', [last])} AND prev >= ${int(afterFirst)}`),
  );

/** Of the sessions in an edge of the plan, those with prev before this did not return at the end: all of them but in the last edge. */
export function prevBeforeIn(plan: Plan, edge: Span): number {
  const { last, afterFirst } = planReturns(plan);
  return edge.start === last.start ? afterFirst : Number.POSITIVE_INFINITY;
}

const COUNT = z.object({ n: z.number() });
const RETURNING = z.object({ period: z.number(), visitors: z.number() });

const RETURN_TABLES = { pairs: 'return_pairs', byPrev: 'session_returns', byStart: 'session_facts' };

/** Negative rows: distinct visitors of each range are its sessions less these, and less those that returned at the end. */
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
/** Visitors of a tail that came before it at all (right only where it is wanted), and in the range. */
export type Known = z.infer<typeof KNOWN>;

/**
 * Of the distinct visitors of the unsealed tail, how many came before it at all, and how many came before it in the range.
 * Between the watermark and a range that begins after it, raw rows know.
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

/** Sessions of an unsealed tail by UTC day, and the visitors that the sealed part of the day (from `from` on) has not seen. */
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
