import { anyOf, inRanges, instant, ofApp } from '../../clickhouse/literals.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, epochMs } from '../../domain/time.ts';
import type { PageFacts } from '../input/app-facts.ts';
import type { LateEvents } from '../late/late.ts';
import type { Plan } from '../range/plan.ts';
import { eventsIn } from '../range/sql.ts';
import { heldBy, type KeyGroup } from './pieces.ts';

/*
 * An event is pending if the facts do not hold it: it is not sealed yet, or it is late. A pending event counts. A session counts
 * for a pair with a pending event unless the facts count it already, for another event of the pair in the range.
 */

/** SQL of rows of the pending events, which must be among those of the plan's range; null if there are none. */
export function pendingRows(
  facts: PageFacts,
  { range, tail, watermark }: Plan,
  { types, kind, key, paired }: KeyGroup,
  late: LateEvents | null,
): Sql | null {
  const sealed = { from: range.from, to: epochMs(Math.min(range.to, watermark - 1)) };
  const hasSealed = sealed.from <= sealed.to;
  const parts: Sql[] = [];
  if (tail !== null) {
    parts.push(eventsIn([tail]));
    if (paired !== null && hasSealed) parts.push(continuing(facts, paired, tail, sealed));
  }
  if (late !== null && hasSealed) parts.push(sql`${late.where} AND ${inRanges(sql`timestamp`, [sealed])}`);
  if (parts.length === 0) return null;
  const isPending = hasSealed
    ? sql`timestamp >= ${instant(watermark)} OR NOT ${heldBy(facts, [sealed])}`
    : sql`true`;
  const session = paired === null ? sql`` : sql`, session, started_at`;
  const isPaired = paired ?? sql`false`;
  return sql`
SELECT kind, key, toInt64(sum(all_events)) AS events, toInt64(countIf(pending_pairs > 0 AND held_pairs = 0)) AS sessions,
    sum(engaged) AS engagedMs, sum(all_engagements) AS engagements
FROM
(
    SELECT ${kind} AS kind, ${key} AS key, countIf(is_pending AND type != 'engagement') AS all_events,
        countIf(is_pending AND ${isPaired}) AS pending_pairs, countIf(NOT is_pending AND ${isPaired}) AS held_pairs,
        sumIf(duration_ms, is_pending) AS engaged, countIf(is_pending AND type = 'engagement') AS all_engagements
    FROM (SELECT *, session, ${isPending} AS is_pending FROM events WHERE ${ofApp(facts.app)} AND type IN (${types}) AND ${anyOf(parts)})
    GROUP BY kind, key${session}
)
GROUP BY kind, key`;
}

/** SQL condition: a sealed event of a pair, of a session that has others in the tail. A session lasts at most 24 h. */
function continuing(
  { app }: PageFacts,
  paired: Sql,
  tail: { readonly from: number; readonly to: number },
  sealed: { readonly from: number; readonly to: number },
): Sql {
  const before = { from: epochMs(Math.max(sealed.from, tail.from - DAY_MS)), to: epochMs(sealed.to) };
  const ofTail = { from: epochMs(tail.from), to: epochMs(tail.to) };
  const began = sql`started_at < ${instant(tail.from)}`;
  const others = sql`FROM events WHERE ${ofApp(app)} AND ${eventsIn([ofTail])} AND ${paired} AND ${began}`;
  // Most sessions are younger than a day.
  return sql`${eventsIn([before])} AND toStartOfHour(timestamp) >= (SELECT toStartOfHour(min(started_at)) ${others})
        AND ${paired} AND ${began} AND (session, started_at) IN (SELECT DISTINCT session, started_at ${others})`;
}
