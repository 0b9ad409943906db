import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { epochMs, HOUR_MS, type Range } from '../../domain/time.ts';
import { plan } from '../plan.ts';
import { Bindings, isEmpty, rawRanges, UTC, unionAll } from '../sql.ts';

/** The views of the raw table keep these sums current: no hour of them is ever "not yet sealed". */
export const ALWAYS_CURRENT = epochMs(Math.floor(Number.MAX_SAFE_INTEGER / HOUR_MS) * HOUR_MS);

const ROW = z.object({
  period: z.number(),
  pageviews: z.number(),
  clicks: z.number(),
  errors: z.number(),
  customs: z.number(),
  engagedMs: z.number(),
});
export type EventTotals = Omit<z.infer<typeof ROW>, 'period'>;

const NOTHING: EventTotals = { pageviews: 0, clicks: 0, errors: 0, customs: 0, engagedMs: 0 };

/**
 * Counts of the events whose timestamp lies in the range, for each of `ranges`, which follow each other without
 * overlap.
 */
export async function eventTotals(
  db: Database,
  app: AppId,
  ranges: readonly Range[],
): Promise<EventTotals[]> {
  const bind = new Bindings({ app });
  const periodOf = (at: string): string =>
    ranges
      .slice(1)
      .map(({ from }) => `toUInt8(${at} >= ${bind.int(from)})`)
      .join(' + ') || 'toUInt8(0)';
  const plans = ranges.map((range) => plan(range, ALWAYS_CURRENT, 'day'));
  const whole = plans.filter(({ sealed }) => !isEmpty(sealed));
  const raw = plans.flatMap(rawRanges);
  const rows = unionAll(
    [
      whole.length === 0
        ? null
        : `SELECT ${periodOf('toUnixTimestamp(t.bucket) * 1000')} AS period, t.pageviews AS pageviews, t.clicks AS clicks, t.errors AS errors,
    t.customs AS customs, t.engaged_ms AS engaged_ms
FROM traffic AS t WHERE app_id = {app:UUID} AND ${bind.inGrains(whole, UTC)}`,
      raw.length === 0
        ? null
        : `SELECT ${periodOf('toUnixTimestamp64Milli(timestamp)')} AS period, countIf(type = 'pageview') AS pageviews, countIf(type = 'click') AS clicks,
    countIf(type = 'error') AS errors, countIf(type = 'custom') AS customs, sum(duration_ms) AS engaged_ms
FROM events WHERE app_id = {app:UUID} AND ${bind.inRanges('timestamp', raw)} GROUP BY period`,
    ],
    '',
  );
  const sql = `SELECT period, sum(r.pageviews) AS pageviews, sum(r.clicks) AS clicks, sum(r.errors) AS errors, sum(r.customs) AS customs,
    sum(r.engaged_ms) AS engagedMs
FROM (${rows}) AS r GROUP BY period`;
  const found = await db.query({ name: 'event totals', sql, row: ROW }, bind.params);
  return ranges.map((_, index) => {
    const { period: _period, ...totals } = found.find(({ period }) => period === index) ?? {
      period: index,
      ...NOTHING,
    };
    return totals;
  });
}
