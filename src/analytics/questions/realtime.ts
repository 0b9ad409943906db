import type { NamedSessions, Realtime } from '../../answers/times.ts';
import { int, ofApp } from '../../clickhouse/literals.ts';
import { number, rowOf, text } from '../../clickhouse/row.ts';
import { sql } from '../../clickhouse/sql.ts';
import { type EpochMs, epochMs, MINUTE_MS, type Range, toIso } from '../../domain/time.ts';
import { bySessions, firstOf } from '../answers/order.ts';
import type { AppFacts } from '../input/app-facts.ts';
import { REALTIME_MINUTES, realtimeWindow } from '../range/ranges.ts';
import { eventsIn } from '../range/sql.ts';
import { matchingSessions } from '../segments/matching.ts';
import { pageviews } from './pageviews.ts';

const ACTIVE_MINUTES = 5;
const TOP = 10;

/** What is grouped, the group, and its sessions, visitors, active visitors and pageviews. */
const ROW = rowOf([text, text], number);
type Row = ReturnType<typeof ROW.parse>;

export async function realtime(facts: AppFacts, now: EpochMs): Promise<Realtime> {
  const range = realtimeWindow(now);
  const [rows, pages] = await Promise.all([counted(facts, range), pageviews(facts, range, TOP)]);
  const [, , sessions = 0, visitors = 0, activeVisitors = 0, views = 0] =
    rows.find(([of]) => of === 'all') ?? [];
  const minutes = new Map(rows.filter(([of]) => of === 'minute').map((row) => [row[1], row]));
  return {
    from: toIso(range.from),
    to: toIso(range.to),
    visitors,
    sessions,
    pageviews: views,
    activeVisitors,
    minutes: Array.from({ length: REALTIME_MINUTES }, (_, i) => {
      const [, , , own = 0, , seen = 0] = minutes.get(`${i}`) ?? [];
      return { start: toIso(epochMs(range.from + i * MINUTE_MS)), visitors: own, pageviews: seen };
    }),
    pages: [...pages],
    channels: topNames(rows, 'channel'),
    countries: topNames(rows, 'country'),
  };
}

const topNames = (rows: readonly Row[], group: string): NamedSessions[] =>
  firstOf(
    rows
      .filter(([of]) => of === group)
      .map(([, name, sessions = 0]) => ({ name: name === '' ? '(none)' : name, sessions })),
    TOP,
    bySessions,
  );

const SESSION = sql`toUnixTimestamp64Milli(started_at) AS started_at, session`;

/** Counts the events of the range, and the sessions and visitors of these events, by minute, channel and country. */
async function counted(facts: AppFacts, range: Range): Promise<Row[]> {
  const inRange = sql`${ofApp(facts.app)} AND ${eventsIn([range])}`;
  const matching = await matchingSessions(facts);
  const sessions = matching.rowsOfEvents(range, ['channel', 'country']);
  const events = sql`SELECT ${SESSION}, intDiv(toUnixTimestamp64Milli(timestamp) - ${int(range.from)}, ${MINUTE_MS}) AS minute, countIf(type = 'pageview') AS views
FROM events AS e WHERE ${inRange} GROUP BY 1, 2, 3`;
  const groups = sql`[('all', ''), ('minute', toString(minute)), ('channel', toString(channel)), ('country', toString(country))]`;
  const statement = sql`SELECT g.1 AS of, g.2 AS name, uniqExact(started_at, session), uniqExact(visitor), uniqExactIf(visitor, minute >= ${REALTIME_MINUTES - ACTIVE_MINUTES}), sum(views)
FROM
(
    SELECT s.started_at AS started_at, s.session AS session, visitor, minute, views, arrayJoin(${groups}) AS g
    FROM (${sessions}) AS s INNER JOIN (${events}) AS e ON s.started_at = e.started_at AND s.session = e.session
)
GROUP BY of, name`;
  return facts.db.rows(
    { name: 'realtime', sql: statement, row: ROW },
    { parallel: true, searches: true },
    matching.params,
  );
}
