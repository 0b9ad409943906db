import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Range } from '../../domain/time.ts';
import { mergedSessions, VISITOR_HASH } from '../merged-sessions.ts';
import type { Plan } from '../plan.ts';
import { Bindings, isEmpty, unionAll } from '../sql.ts';
import { returningSessions, sealedPart, tailReturns } from './visitors.ts';

const ROW = z.object({
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
export type SessionTotals = z.infer<typeof ROW>;

/** `newVisitors` is only asked for where it is shown: it needs all of the app's past. */
export function sessionTotals(
  db: Database,
  app: AppId,
  plan: Plan,
  want: { readonly newVisitors: boolean },
): Promise<SessionTotals> {
  const bind = new Bindings({ app });
  const edges = [plan.left, plan.right].filter((range) => range !== null);
  const rows = unionAll(
    [
      isEmpty(plan.sealed) ? null : sums(bind, plan),
      edges.length === 0 ? null : merged(bind, edges, 'count()', '0'),
      edges.length === 0 || !want.newVisitors ? null : newInEdges(bind, edges),
      isEmpty(sealedPart(plan)) ? null : counts('-toInt64(n)', '0', returningSessions(bind, plan)),
      plan.tail && merged(bind, [plan.tail], `uniqExact(${VISITOR_HASH})`, `uniqExact(${VISITOR_HASH})`),
      plan.tail && (want.newVisitors || !isEmpty(sealedPart(plan)))
        ? counts('-toInt64(in_range)', '-toInt64(known)', tailReturns(bind, plan))
        : null,
    ],
    '',
  );
  const sql = `SELECT sum(r.sessions) AS sessions, sum(r.visitors) AS visitors, sum(r.new_visitors) AS newVisitors, sum(r.bounces) AS bounces,
    sum(r.duration_ms) AS durationMs, sum(r.pageviews) AS pageviews, sum(r.clicks) AS clicks, sum(r.with_errors) AS withErrors
FROM (${rows}) AS r`;
  return db.queryOne({ name: 'session totals', sql, row: ROW }, bind.params);
}

const sums = (bind: Bindings, plan: Plan): string => `
SELECT toInt64(s.sessions) AS sessions, toInt64(s.sessions) AS visitors, toInt64(s.new_visitors) AS new_visitors,
    toInt64(s.bounces) AS bounces, toInt64(s.duration_ms) AS duration_ms, toInt64(s.pageviews) AS pageviews,
    toInt64(s.clicks) AS clicks, toInt64(s.with_errors) AS with_errors
FROM session_sums AS s WHERE app_id = {app:UUID} AND ${bind.inGrains(plan, 'half_hour')}`;

const merged = (bind: Bindings, ranges: readonly Range[], visitors: string, newVisitors: string): string => `
SELECT toInt64(count()) AS sessions, toInt64(${visitors}) AS visitors, toInt64(${newVisitors}) AS new_visitors,
    toInt64(sum(m.bounced)) AS bounces, toInt64(sum(m.duration_ms)) AS duration_ms, toInt64(sum(m.pageviews)) AS pageviews,
    toInt64(sum(m.clicks)) AS clicks, toInt64(countIf(m.errors > 0)) AS with_errors
FROM (${mergedSessions(bind, ranges)}) AS m`;

const newInEdges = (bind: Bindings, edges: readonly Range[]): string =>
  counts(
    '0',
    'n',
    `SELECT toInt64(count()) AS n FROM session_facts
WHERE app_id = {app:UUID} AND prev = -1 AND ${bind.inMs(
      'started_at',
      edges.map(({ from, to }) => ({ start: from, end: to + 1 })),
    )}`,
  );

const counts = (visitors: string, newVisitors: string, from: string): string => `
SELECT 0 AS sessions, toInt64(${visitors}) AS visitors, toInt64(${newVisitors}) AS new_visitors, 0 AS bounces, 0 AS duration_ms,
    0 AS pageviews, 0 AS clicks, 0 AS with_errors
FROM (${from})`;
