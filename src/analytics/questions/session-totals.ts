import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Range } from '../../domain/time.ts';
import { mergedSessions, type SessionColumn, VISITOR_HASH } from '../merged-sessions.ts';
import type { Plan } from '../plan.ts';
import { Bindings, HALF_HOURS, isEmpty, unionAll } from '../sql.ts';
import { edgeFacts, returningSessions, sealedPart, tailReturns } from './visitors.ts';

const ROW = z.object({
  period: z.number(),
  sessions: z.number(),
  visitors: z.number(),
  newVisitors: z.number(),
  bounces: z.number(),
  durationMs: z.number(),
  pageviews: z.number(),
  clicks: z.number(),
  withErrors: z.number(),
});

/** Sums over the sessions that started in a range; pageviews and clicks are the sessions' own. */
export type SessionTotals = Omit<z.infer<typeof ROW>, 'period'>;

const NOTHING: SessionTotals = {
  sessions: 0,
  visitors: 0,
  newVisitors: 0,
  bounces: 0,
  durationMs: 0,
  pageviews: 0,
  clicks: 0,
  withErrors: 0,
};

/**
 * One SessionTotals for each of `plans`, whose ranges follow each other without overlap. `newVisitors` is only right where
 * it is wanted: it needs all of the app's past.
 */
export async function sessionTotals(
  db: Database,
  app: AppId,
  plans: readonly Plan[],
  want: { readonly newVisitors: boolean },
): Promise<SessionTotals[]> {
  const bind = new Bindings({ app });
  const periodOf = (at: string): string =>
    plans
      .slice(1)
      .map(({ range }) => `toUInt8(${at} >= ${bind.int(range.from)})`)
      .join(' + ') || 'toUInt8(0)';
  const edges = plans.flatMap(({ left, right }) => [left, right]).filter((range) => range !== null);
  const sealed = plans.filter((plan) => !isEmpty(plan.sealed));
  const returning = returningSessions(bind, plans);
  const atEdges = edgeFacts(bind, plans);
  const rows = unionAll(
    [
      sealed.length === 0 ? null : sums(bind, sealed, periodOf('toUnixTimestamp(s.bucket) * 1000')),
      edges.length === 0 ? null : merged(bind, edges, periodOf('toUnixTimestamp64Milli(started_at)')),
      atEdges && counts(periodOf('at'), '-sum(returning)', 'sum(first)', atEdges),
      returning && counts(periodOf('at'), '-sum(n)', '0', returning),
      ...plans.flatMap((plan, period) => tailRows(bind, plan, period, want.newVisitors)),
    ],
    '',
  );
  const sql = `SELECT period, sum(r.sessions) AS sessions, sum(r.visitors) AS visitors, sum(r.new_visitors) AS newVisitors,
    sum(r.bounces) AS bounces, sum(r.duration_ms) AS durationMs, sum(r.pageviews) AS pageviews, sum(r.clicks) AS clicks,
    sum(r.with_errors) AS withErrors
FROM (${rows}) AS r GROUP BY period`;
  const found = await db.query({ name: 'session totals', sql, row: ROW }, bind.params, {
    parallel: plans.some(({ tail }) => tail !== null),
  });
  return plans.map((_, index) => {
    const { period: _period, ...totals } = found.find(({ period }) => period === index) ?? {
      period: index,
      ...NOTHING,
    };
    return totals;
  });
}

const sums = (bind: Bindings, plans: readonly Plan[], period: string): string => `
SELECT ${period} AS period, toInt64(s.sessions) AS sessions, toInt64(s.sessions) AS visitors,
    toInt64(s.new_visitors) AS new_visitors, toInt64(s.bounces) AS bounces, toInt64(s.duration_ms) AS duration_ms,
    toInt64(s.pageviews) AS pageviews, toInt64(s.clicks) AS clicks, toInt64(s.with_errors) AS with_errors
FROM session_sums AS s WHERE app_id = {app:UUID} AND ${bind.inGrains(plans, HALF_HOURS)}`;

const TOTALLED: readonly SessionColumn[] = ['bounced', 'duration_ms', 'pageviews', 'clicks', 'errors'];
const AMOUNTS = `toInt64(sum(m.bounced)) AS bounces, toInt64(sum(m.duration_ms)) AS duration_ms,
    toInt64(sum(m.pageviews)) AS pageviews, toInt64(sum(m.clicks)) AS clicks, toInt64(countIf(m.errors > 0)) AS with_errors`;

const merged = (bind: Bindings, ranges: readonly Range[], period: string): string => `
SELECT ${period} AS period, toInt64(count()) AS sessions, toInt64(count()) AS visitors, toInt64(0) AS new_visitors, ${AMOUNTS}
FROM (${mergedSessions(bind, ranges, TOTALLED)}) AS m GROUP BY period`;

const counts = (period: string, visitors: string, newVisitors: string, from: string): string => `
SELECT ${period} AS period, toInt64(0) AS sessions, toInt64(${visitors}) AS visitors, toInt64(${newVisitors}) AS new_visitors,
    toInt64(0) AS bounces, toInt64(0) AS duration_ms, toInt64(0) AS pageviews, toInt64(0) AS clicks, toInt64(0) AS with_errors
FROM (${from}) GROUP BY period`;

/** Distinct visitors of the unsealed tail, less those that the sealed part has counted. */
function tailRows(bind: Bindings, plan: Plan, index: number, newVisitors: boolean): (string | null)[] {
  if (plan.tail === null) return [];
  const period = `toUInt8(${index})`;
  const distinct = `toInt64(uniqExact(${VISITOR_HASH}))`;
  return [
    `SELECT ${period} AS period, toInt64(count()) AS sessions, ${distinct} AS visitors, visitors AS new_visitors, ${AMOUNTS}
FROM (${mergedSessions(bind, [plan.tail], [...TOTALLED, 'visitor_id'])}) AS m`,
    newVisitors || !isEmpty(sealedPart(plan))
      ? counts(period, '-sum(in_range)', '-sum(known)', tailReturns(bind, plan))
      : null,
  ];
}
