import type { GrowthPoint } from '../../answers/rows.ts';
import { anyOf, inSpans } from '../../clickhouse/literals.ts';
import { sql } from '../../clickhouse/sql.ts';
import { DAY_MS, epochMs, isoDay, type OpenRange, type Range, type Span } from '../../domain/time.ts';
import { eventSums, eventTotalsOf } from '../events/totals.ts';
import type { AppFacts, SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { UTC_DAYS, withinData } from '../range/calendar.ts';
import { byDay, dayOf } from '../range/grid.ts';
import { plan, spanOf } from '../range/plan.ts';
import { growthDays } from '../range/ranges.ts';
import { isEmpty } from '../range/sql.ts';
import { countSessions } from '../sessions/count.ts';
import { sumsOfBucket, TOTALS, totalsOf } from '../sessions/measures.ts';
import { matchingSlices } from './matching-slices.ts';

export async function userGrowth(facts: AppFacts, range: OpenRange): Promise<GrowthPoint[]> {
  const bounded = withinData(facts.extent, range, UTC_DAYS);
  if (bounded === null) return [];
  const { first, last } = growthDays(bounded);
  const { sessions, events } = await (facts.segment === null
    ? slicesByDay(facts, bounded)
    : matchingSlices(facts, byDay(bounded)));
  const [sessionsOf, eventsOf] = [sumByKey(sessions), sumByKey(events)];
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const day = `${first + i}`;
    const { sessions: started, visitors } = totalsOf(sessionsOf.get(day));
    const { pageviews, clicks } = eventTotalsOf(eventsOf.get(day));
    return { date: isoDay(epochMs((first + i) * DAY_MS)), sessions: started, visitors, pageviews, clicks };
  });
}

async function slicesByDay(facts: AppFacts, range: Range) {
  const [sessions, events] = await Promise.all([
    sessionsByDay(facts.sessions, range),
    eventSums(facts.events, [range], byDay(range), () => sql`intDiv(toUnixTimestamp(bucket), 86400)`),
  ]);
  return { sessions, events };
}

/**
 * Returns the totals of sessions by UTC day. Buckets count a visitor once a day. A first day that the range cuts is counted
 * session by session, because its visitors may have come before the range on the same day.
 */
async function sessionsByDay(facts: SessionFacts, range: Range): Promise<Row[]> {
  const pieces = plan(range, facts.until);
  const firstDay = dayOf(range.from);
  const isCut = range.from > firstDay;
  const start = isCut ? Math.min(firstDay + DAY_MS, range.to + 1) : range.from;
  const cut = isCut ? [{ start: range.from, end: Math.min(start, facts.until) }] : [];
  const right = pieces.right === null ? [] : [spanOf(pieces.right)];
  const [whole, singles] = await Promise.all([
    totalsOfDays(facts, { start, end: Math.max(pieces.sealed.end, start) }),
    countSessions(
      facts,
      TOTALS,
      byDay(range),
      [...cut, ...right.filter((part) => part.start >= start)].filter((part) => !isEmpty(part)),
    ),
  ]);
  return [...whole, ...singles];
}

/** The totals of a span of hours that begins with a day, by day. */
async function totalsOfDays(
  { db, where, cache }: SessionFacts,
  { start, end }: Span,
): Promise<readonly Row[]> {
  if (start >= end) return [];
  const days = { start, end: dayOf(end) };
  const hours = { start: days.end, end };
  const conditions = [
    ...(isEmpty(days) ? [] : [sql`grain = 2 AND ${inSpans(sql`bucket`, [days])}`]),
    ...(isEmpty(hours) ? [] : [sql`grain = 1 AND ${inSpans(sql`bucket`, [hours])}`]),
  ];
  const statement = sql`SELECT toString(intDiv(toUnixTimestamp(bucket), 86400)) AS day, ${sumsOfBucket('day_visitors', ['sessions', 'visitors'])}
FROM session_sums AS s WHERE ${where} AND ${anyOf(conditions)} GROUP BY day`;
  return keptRows(db, cache, 'session sums by day', statement);
}
