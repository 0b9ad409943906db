import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import { asTheyAre, type Facts } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Plan, planReturns, type ReturnsPlan, type Span } from '../plan.ts';
import {
  anyOf,
  bucket,
  hoursPeriodOf,
  inMs,
  inSpans,
  int,
  isEmpty,
  ofApp,
  periodOf,
  spanOf,
  unionAll,
} from '../sql.ts';

/** The part of a plan's range that session facts answer, ragged ends included. */
export const sealedPart = (plan: Plan): Span => {
  const start = plan.range.from;
  const end = plan.tail === null ? plan.range.to + 1 : plan.tail.from;
  return start < end ? { start, end } : { start: 0, end: 0 };
};

/** Where sealed sessions are found whose visitor came before: the same three places for visitors at all and by campaign. */
interface ReturnTables {
  readonly pairs: string;
  readonly byPrev: string;
  readonly byStart: string;
}

/** A statement's parts: it counts returning sessions by `n`, each in the range that `at` (epoch ms) lies in. */
interface Returns {
  readonly n: string;
  readonly at: string;
  readonly from: string;
}

/**
 * What counts the sealed sessions that have an earlier one of their visitor in the same range, each once: those in the plans' whole
 * hours, and those whose earlier one lies in what a range leaves of its first hour. Those that started in what it leaves of its last
 * hour are counted with the other sums of that edge, by `returnedAtTheEnd`.
 */
export function returnsIn(
  app: AppId,
  plans: readonly Plan[],
  tables: ReturnTables,
): { readonly inHours: Returns[]; readonly fromTheEdge: Returns[] } {
  const pieces = plans
    .filter(({ sealed }) => !isEmpty(sealed))
    .map(({ sealed }) => planReturns(sealed.start, sealed.end));
  const where = (name: 'days' | 'byPrev' | 'byStart', condition: (piece: ReturnsPlan) => string): string[] =>
    pieces.filter((piece) => !isEmpty(piece[name])).map(condition);
  const statement = (n: string, at: string, table: string, conditions: readonly string[]): Returns[] =>
    conditions.length === 0
      ? []
      : [{ n, at, from: `FROM ${table} WHERE ${ofApp(app)} AND ${anyOf(conditions)}` }];
  const byPrev = (prev: Span, end: number): string => `${inMs('prev', [prev])} AND started_at < ${int(end)}`;
  return {
    inHours: [
      ...statement(
        'sum(sessions)',
        'toUnixTimestamp(day) * 1000',
        tables.pairs,
        where('days', ({ days }) => `${inSpans('day', [days])} AND prev_day >= ${bucket(days.start)}`),
      ),
      ...statement(
        'count()',
        'prev',
        tables.byPrev,
        where('byPrev', (piece) => byPrev(piece.byPrev, piece.end)),
      ),
      ...statement(
        'count()',
        'started_at',
        tables.byStart,
        where(
          'byStart',
          ({ byStart, prevFrom }) => `${inMs('started_at', [byStart])} AND prev >= ${int(prevFrom)}`,
        ),
      ),
    ],
    fromTheEdge: statement(
      'count()',
      'prev',
      tables.byPrev,
      plans.flatMap((plan) => (plan.left === null ? [] : [byPrev(spanOf(plan.left), sealedPart(plan).end)])),
    ),
  };
}

/** Of facts in the plans' edges: started in the last one, and the same visitor came before, in the range but after its first edge. */
export const returnedAtTheEnd = (plans: readonly Plan[]): string =>
  anyOf(
    plans.flatMap(({ range, left, right }) =>
      right === null
        ? []
        : [
            `${inMs('started_at', [spanOf(right)])} AND prev >= ${int(left === null ? range.from : left.to + 1)}`,
          ],
    ),
  );

const COUNT = z.object({ n: z.number() });
const RETURNING = z.object({ period: z.number(), visitors: z.number() });

/** Negative rows: distinct visitors of each range are its sessions less these, and less those that returned at the end. */
export async function returningSessions(db: Database, facts: Facts, app: AppId, plans: readonly Plan[]) {
  const tables = { pairs: 'return_pairs', byPrev: 'session_returns', byStart: 'session_facts' };
  const { inHours, fromTheEdge } = returnsIn(app, plans, tables);
  const query = ({ n, from }: Returns, period: string) => ({
    name: 'returning sessions',
    sql: `SELECT ${period} AS period, -toInt64(${n}) AS visitors ${from} GROUP BY period`,
    row: RETURNING,
  });
  const found = await Promise.all([
    ...inHours.map((returns) => {
      const asked = query(returns, hoursPeriodOf(returns.at, plans));
      return facts.recall(asked, () => db.query(asked), asTheyAre);
    }),
    ...fromTheEdge.map((returns) => db.query(query(returns, periodOf(returns.at, plans)))),
  ]);
  return found.flat();
}

const KNOWN = z.object({ known: z.number(), inRange: z.number() });

/**
 * Of the distinct visitors of the unsealed tail, how many came before it at all, and how many came before it in the range.
 * Between the watermark and a range that begins after it, raw rows know.
 */
export async function tailReturns(
  db: Database,
  app: AppId,
  { watermark, range }: Plan,
  tail: Range,
  ever: boolean,
): Promise<z.infer<typeof KNOWN>> {
  const visitors = `SELECT visitor FROM (${mergedSessions(app, [tail], ['visitor'])})`;
  const from = ever ? '' : ` AND started_at >= ${int(range.from)}`;
  const sealed =
    watermark > (ever ? 0 : range.from)
      ? `SELECT visitor, started_at AS at FROM session_facts
    WHERE ${ofApp(app)} AND started_at < ${int(watermark)}${from} AND visitor IN (${visitors})`
      : null;
  const between =
    ever && watermark < tail.from
      ? `SELECT visitor, toUnixTimestamp64Milli(started_at) AS at
    FROM (${mergedSessions(app, [{ from: watermark, to: epochMs(tail.from - 1) }], ['visitor'])})
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
export async function tailByDay(db: Database, app: AppId, tail: Range, from: number) {
  const rows = mergedSessions(app, [tail], ['visitor']);
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
            sql: `SELECT uniqExact(visitor) AS n FROM session_facts
WHERE ${ofApp(app)} AND ${inMs('started_at', [{ start: sealedFrom, end: tail.from }])}
    AND visitor IN (SELECT visitor FROM (${mergedSessions(app, [{ from: tail.from, to: epochMs(lastOfDay) }], ['visitor'])}))`,
            row: COUNT,
          },
          {},
          { parallel: true },
        )
      : { n: 0 };
  const [days, { n }] = await Promise.all([counted, known]);
  return days.map((row) => (row.day === day ? { ...row, visitors: row.visitors - n } : row));
}
