import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, type OpenRange, type Range, toIso, utcDayStart } from '../../domain/time.ts';
import type { Asker, EventFacts } from '../ask.ts';
import { plan } from '../plan.ts';
import { growthDays } from '../ranges.ts';
import type { GrowthPoint } from '../results.ts';
import { eventsIn, inGrains, ofApp, rawRanges, UTC } from '../sql.ts';
import {
  ALWAYS_CURRENT,
  eachSum,
  rawEvents,
  sumsOfEvents,
  sumsOfHours,
  sumsOfTraffic,
} from './event-totals.ts';
import { sessionsByDay } from './sessions-by-day.ts';

/** The first and last instant with a session or an event of the app. */
const EXTENT: Query<{ hours: number; oldest: number; newest: number }> = {
  name: 'growth extent',
  sql: `SELECT count() AS hours, toUnixTimestamp64Milli(min(l.oldest)) AS oldest, toUnixTimestamp64Milli(max(l.newest)) AS newest
FROM ledger AS l
WHERE l.app_id = {app:UUID}`,
  row: z.object({ hours: z.number(), oldest: z.number(), newest: z.number() }),
};

const OF_EVENTS = ['pageviews', 'clicks'] as const;
const EVENTS_ROW = z.object({ day: z.number(), ...eachSum(OF_EVENTS, () => z.number()) });

export async function userGrowth({ db, facts }: Asker, app: AppId, range: OpenRange): Promise<GrowthPoint[]> {
  const bounded = await withinData(db, app, range);
  if (bounded === null) return [];
  const { first, last } = growthDays(bounded);
  const session = await facts.sessions();
  const [sessions, events] = await Promise.all([
    sessionsByDay(db, session, bounded),
    eventsByDay(db, facts.events, bounded),
  ]);
  const days = Array.from({ length: last - first + 1 }, (_, i) => ({
    date: toIso(epochMs((first + i) * DAY_MS)).slice(0, 10),
    sessions: 0,
    visitors: 0,
    pageviews: 0,
    clicks: 0,
  }));
  for (const { day, ...counts } of [...sessions, ...events]) {
    const point = days[day - first];
    if (point === undefined) continue;
    for (const [name, count] of Object.entries(counts))
      point[name as Exclude<keyof GrowthPoint, 'date'>] += count;
  }
  return days;
}

/**
 * Replaces an omitted bound by the app's first or last day with data. Null if no day is left: no data, none
 * from `from` on, or none up to the day of `to`.
 */
async function withinData(db: Database, app: AppId, { from, to }: OpenRange): Promise<Range | null> {
  if (from !== null && to !== null) return { from, to };
  const extent = await db.queryOne(EXTENT, { app });
  if (extent.hours === 0 || (from !== null && extent.newest < from)) return null;
  const first = from ?? utcDayStart(epochMs(extent.oldest));
  const last = to ?? epochMs(utcDayStart(epochMs(extent.newest)) + DAY_MS - 1);
  return first > last ? null : { from: first, to: last };
}

async function eventsByDay(db: Database, facts: EventFacts, range: Range) {
  const pieces = plan(range, ALWAYS_CURRENT, 'day');
  const [whole, ...cut] = await Promise.all([
    sumsOfHours(db, facts, [pieces], {
      name: 'growth events',
      sql: `SELECT intDiv(toUnixTimestamp(bucket), 86400) AS day, ${sumsOfTraffic(OF_EVENTS)} FROM traffic AS t
WHERE ${ofApp(facts.app)} AND ${inGrains([pieces], UTC)}
GROUP BY day`,
      row: EVENTS_ROW,
    }),
    ...rawEvents(db, facts, rawRanges(pieces), {
      queryOf: (ranges) => ({
        name: 'growth event edges',
        sql: `SELECT intDiv(toUnixTimestamp64Milli(timestamp), 86400000) AS day, ${sumsOfEvents(OF_EVENTS)}
FROM events WHERE ${ofApp(facts.app)} AND ${eventsIn(ranges)}
GROUP BY day`,
        row: EVENTS_ROW,
      }),
      rowOf: (start, counted) => ({
        day: Math.floor(start / DAY_MS),
        ...eachSum(OF_EVENTS, counted),
      }),
    }),
  ]);
  return [...whole, ...cut.flat()];
}
