import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import type { Keep } from '../../facts/sealed-cache.ts';
import { asTheyAre, type Facts } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Plan, planReturns, type ReturnsPlan } from '../plan.ts';
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
  unionAll,
} from '../sql.ts';

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
 * What counts the sealed sessions that have an earlier one of their visitor in the same range, each once: those of whole hours, and
 * those that the first edge settles. The ones that started in the last edge are counted with its other sums, by `returnedAtTheEnd`.
 */
export function returnsIn(
  app: AppId,
  plans: readonly Plan[],
  tables: ReturnTables,
): { readonly inHours: Returns[]; readonly atTheStart: Returns[] } {
  const pieces = plans.map(planReturns);
  const count = (
    { n, at, table }: { readonly n: string; readonly at: string; readonly table: string },
    place: 'days' | 'byPrev' | 'byStart' | 'first',
    condition: (piece: ReturnsPlan) => string,
  ): Returns[] => {
    const conditions = pieces.filter((piece) => !isEmpty(piece[place])).map(condition);
    return conditions.length === 0
      ? []
      : [{ n, at, from: `FROM ${table} WHERE ${ofApp(app)} AND ${anyOf(conditions)}` }];
  };
  const pairs = { n: 'sum(sessions)', at: 'toUnixTimestamp(day) * 1000', table: tables.pairs };
  const byPrev = { n: 'count()', at: 'prev', table: tables.byPrev };
  const byStart = { n: 'count()', at: 'started_at', table: tables.byStart };
  return {
    inHours: [
      ...count(
        pairs,
        'days',
        ({ days }) => `${inSpans('day', [days])} AND prev_day >= ${bucket(days.start)}`,
      ),
      ...count(
        byPrev,
        'byPrev',
        (piece) => `${inMs('prev', [piece.byPrev])} AND started_at < ${int(piece.hoursEnd)}`,
      ),
      ...count(
        byStart,
        'byStart',
        (piece) => `${inMs('started_at', [piece.byStart])} AND prev >= ${int(piece.prevFrom)}`,
      ),
    ],
    atTheStart: count(
      byPrev,
      'first',
      ({ first, end }) => `${inMs('prev', [first])} AND started_at < ${int(end)}`,
    ),
  };
}

/** Of facts by start in the plans' edges: the visitor returned, and no other place of `planReturns` counts it. */
export const returnedAtTheEnd = (plans: readonly Plan[]): string =>
  anyOf(
    plans
      .map(planReturns)
      .filter(({ last }) => !isEmpty(last))
      .map(({ last, afterFirst }) => `${inMs('started_at', [last])} AND prev >= ${int(afterFirst)}`),
  );

const COUNT = z.object({ n: z.number() });
const RETURNING = z.object({ period: z.number(), visitors: z.number() });

/** Negative rows: distinct visitors of each range are its sessions less these, and less those that returned at the end. */
export async function returningSessions(db: Database, facts: Facts, app: AppId, plans: readonly Plan[]) {
  const tables = { pairs: 'return_pairs', byPrev: 'session_returns', byStart: 'session_facts' };
  const { inHours, atTheStart } = returnsIn(app, plans, tables);
  const query = ({ n, from }: Returns, period: string) => ({
    name: 'returning sessions',
    sql: `SELECT ${period} AS period, -toInt64(${n}) AS visitors ${from} GROUP BY period`,
    row: RETURNING,
  });
  const asked = (returns: Returns, period: string, keep: Keep) => {
    const statement = query(returns, period);
    return facts.recall(statement, () => db.query(statement), asTheyAre, keep);
  };
  const found = await Promise.all([
    ...inHours.map((returns) => asked(returns, hoursPeriodOf(returns.at, plans), 'at once')),
    ...atTheStart.map((returns) => asked(returns, periodOf(returns.at, plans), 'when repeated')),
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
