import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { epochMs, HOUR_MS, type Range } from '../../domain/time.ts';
import { plan } from '../plan.ts';
import { eventsIn, inGrains, isEmpty, ofApp, periodOf, rawRanges, UTC } from '../sql.ts';
import { addedByPeriod } from './periods.ts';

/** The views of the raw table keep these sums current: no hour of them is ever "not yet sealed". */
export const ALWAYS_CURRENT = epochMs(Math.floor(Number.MAX_SAFE_INTEGER / HOUR_MS) * HOUR_MS);

const ROW = z.object({
  pageviews: z.number(),
  clicks: z.number(),
  errors: z.number(),
  customs: z.number(),
  engagedMs: z.number(),
});
const IN_PERIOD = ROW.extend({ period: z.number() });
export type EventTotals = z.infer<typeof ROW>;

const NOTHING: EventTotals = { pageviews: 0, clicks: 0, errors: 0, customs: 0, engagedMs: 0 };

/** Counts of the events whose timestamp lies in each of `ranges`, which follow each other without overlap. */
export async function eventTotals(
  db: Database,
  app: AppId,
  ranges: readonly Range[],
): Promise<EventTotals[]> {
  const plans = ranges.map((range) => plan(range, ALWAYS_CURRENT, 'day'));
  const raw = plans.flatMap(rawRanges);
  const [whole, cut] = await Promise.all([
    plans.every(({ sealed }) => isEmpty(sealed))
      ? []
      : db.query({
          name: 'event sums',
          sql: `SELECT ${periodOf('toUnixTimestamp(bucket) * 1000', plans)} AS period, sum(t.pageviews) AS pageviews, sum(t.clicks) AS clicks,
    sum(t.errors) AS errors, sum(t.customs) AS customs, sum(t.engaged_ms) AS engagedMs
FROM traffic AS t WHERE ${ofApp(app)} AND ${inGrains(plans, UTC)}
GROUP BY period`,
          row: IN_PERIOD,
        }),
    raw.length === 0
      ? []
      : db.query({
          name: 'event edges',
          sql: `SELECT ${periodOf('toUnixTimestamp64Milli(timestamp)', plans)} AS period, countIf(type = 'pageview') AS pageviews,
    countIf(type = 'click') AS clicks, countIf(type = 'error') AS errors, countIf(type = 'custom') AS customs, sum(duration_ms) AS engagedMs
FROM events WHERE ${ofApp(app)} AND ${eventsIn(raw)}
GROUP BY period`,
          row: IN_PERIOD,
        }),
  ]);
  return addedByPeriod(ranges, NOTHING, [...whole, ...cut]);
}
