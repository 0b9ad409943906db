import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { epochMs, type Range } from '../../domain/time.ts';
import { plan } from '../plan.ts';
import { Bindings, isEmpty, rawRanges, unionAll } from '../sql.ts';

/** The views of the raw table keep these sums current: no hour of them is ever "not yet sealed". */
export const ALWAYS_CURRENT = epochMs(Number.MAX_SAFE_INTEGER - (Number.MAX_SAFE_INTEGER % 3_600_000));

const ROW = z.object({
  pageviews: z.number(),
  clicks: z.number(),
  errors: z.number(),
  customs: z.number(),
  engagedMs: z.number(),
});
export type EventTotals = z.infer<typeof ROW>;

/** Counts of the events whose timestamp lies in the range. */
export function eventTotals(db: Database, app: AppId, range: Range): Promise<EventTotals> {
  const bind = new Bindings({ app });
  const pieces = plan(range, ALWAYS_CURRENT, 'day');
  const raw = rawRanges(pieces);
  const rows = unionAll(
    [
      isEmpty(pieces.sealed)
        ? null
        : `SELECT t.pageviews AS pageviews, t.clicks AS clicks, t.errors AS errors, t.customs AS customs, t.engaged_ms AS engaged_ms
FROM traffic AS t WHERE app_id = {app:UUID} AND ${bind.inGrains(pieces, 'utc_hour', 'utc_day')}`,
      raw.length === 0
        ? null
        : `SELECT countIf(type = 'pageview'), countIf(type = 'click'), countIf(type = 'error'), countIf(type = 'custom'), sum(duration_ms)
FROM events WHERE app_id = {app:UUID} AND ${bind.inRanges('timestamp', raw)}`,
    ],
    '',
  );
  const sql = `SELECT sum(r.pageviews) AS pageviews, sum(r.clicks) AS clicks, sum(r.errors) AS errors, sum(r.customs) AS customs,
    sum(r.engaged_ms) AS engagedMs
FROM (SELECT 0 AS pageviews, 0 AS clicks, 0 AS errors, 0 AS customs, 0 AS engaged_ms WHERE false UNION ALL ${rows}) AS r`;
  return db.queryOne({ name: 'event totals', sql, row: ROW }, bind.params);
}
