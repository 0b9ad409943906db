import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Plan, planReturns, type Span } from '../plan.ts';
import { anyOf, bucket, inMs, inSpans, int, isEmpty, ofApp, periodOf, unionAll } from '../sql.ts';

/** The part of a plan's range that session facts answer, ragged ends included. */
export const sealedPart = (plan: Plan): Span => {
  const start = plan.range.from;
  const end = plan.tail === null ? plan.range.to + 1 : plan.tail.from;
  return start < end ? { start, end } : { start: 0, end: 0 };
};

const COUNT = z.object({ n: z.number() });
const RETURNING = z.object({ period: z.number(), visitors: z.number() });

/**
 * Negative rows: how many sealed sessions of each range have an earlier one of their visitor in it. Distinct visitors are the
 * sessions less these.
 */
export async function returningSessions(db: Database, app: AppId, plans: readonly Plan[]) {
  const pieces = plans
    .map(sealedPart)
    .filter((part) => !isEmpty(part))
    .map(({ start, end }) => planReturns(start, end));
  const statements = [
    {
      table: 'return_pairs',
      at: 'toUnixTimestamp(day) * 1000',
      n: 'sum(sessions)',
      where: pieces
        .filter(({ days }) => !isEmpty(days))
        .map(({ days }) => `${inSpans('day', [days])} AND prev_day >= ${bucket(days.start)}`),
    },
    {
      table: 'session_returns',
      at: 'prev',
      n: 'count()',
      where: pieces
        .filter(({ byPrev }) => !isEmpty(byPrev))
        .map(({ byPrev, end }) => `${inMs('prev', [byPrev])} AND started_at < ${int(end)}`),
    },
    {
      table: 'session_facts',
      at: 'started_at',
      n: 'count()',
      where: pieces
        .filter(({ byStart }) => !isEmpty(byStart))
        .map(({ byStart, prevFrom }) => `${inMs('started_at', [byStart])} AND prev >= ${int(prevFrom)}`),
    },
  ].filter(({ where }) => where.length > 0);
  const found = await Promise.all(
    statements.map(({ table, at, n, where }) =>
      db.query({
        name: 'returning sessions',
        sql: `SELECT ${periodOf(at, plans)} AS period, -toInt64(${n}) AS visitors FROM ${table}
WHERE ${ofApp(app)} AND ${anyOf(where)} GROUP BY period`,
        row: RETURNING,
      }),
    ),
  );
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
