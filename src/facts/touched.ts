import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { inEachHour, inMs, ofApp } from '../clickhouse/literals.ts';
import { identifier, join, sql } from '../clickhouse/sql.ts';
import type { FactKind } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { asSpans, DAY_MS, epochMs, HOUR_MS, type Span } from '../domain/time.ts';
import type { LateHour } from '../snapshots/late-hour.ts';
import { findLate, lateSessions } from './late.ts';
import { sessionRows } from './sql/compute.ts';
import { sessionColumns } from './sql/session-columns.ts';
import { UTM } from './sql/tables.ts';

/*
 * Finds the hours whose facts late events change: the hour of each event, and the hours of the next
 * occurrences, whose `prev` changes.
 */

/** A session lasts at most 24 h, so its events lie in 25 hours at most. */
const SESSION_HOURS = 25;
/** Limit of one repair. */
export const MOST_HOURS = 48;
/** If more events are late, for example after an import, everything from the first of them on is sealed again. */
export const MOST_REPAIRED = 100_000;

/** Late hours of an app. */
export interface Touched {
  readonly db: Database;
  readonly app: AppId;
  readonly kind: FactKind;
  /** In order. */
  readonly late: readonly LateHour[];
  readonly until: number;
  readonly dead: readonly number[];
  /** `sessions` holds all sessions of the late hours. */
  readonly isKept: boolean;
}

/**
 * Returns the hours below `until` whose facts change when the first `count` late hours are sealed again, as
 * spans in order; null if there are too many. If one of them is late itself, the hours that it affects are
 * included.
 */
export async function touchedHours(asked: Touched, count: number): Promise<Span[] | null> {
  const hours = new Set(asked.late.slice(0, count).map(({ hour }) => hour));
  for (let known = 0; known < hours.size; ) {
    known = hours.size;
    if (known > MOST_HOURS) return null;
    const own = asked.late.filter(({ hour }) => hours.has(hour));
    const more = await (asked.kind === 'page' ? hoursOfSessions(asked, own) : hoursOfVisitors(asked, own));
    const touched = [...hours, ...more].filter((hour) => hour < asked.until);
    if (asked.kind === 'session' && touched.length > MOST_HOURS) return null;
    const found = new Set(touched);
    const others = asked.late.filter(({ hour }) => found.has(hour) && !hours.has(hour));
    if (others.length === 0) {
      const spans = asSpans([...found].sort((a, b) => a - b));
      return spans.length > MOST_HOURS ? null : spans;
    }
    for (const { hour } of others) hours.add(hour);
  }
  return null;
}

const HOUR_ROW: z.ZodType<{ hour: number }> = z.object({ hour: z.number() });

/**
 * Returns the hours with later events of the late sessions; if those sessions are unknown, all hours in which
 * they may lie.
 */
async function hoursOfSessions({ db, app }: Touched, late: readonly LateHour[]): Promise<number[]> {
  const following = late.map(({ hour }) => ({ from: epochMs(hour), to: epochMs(hour + DAY_MS) }));
  const sessions = await findLate({ db, app, kind: 'page' }, late, MOST_REPAIRED);
  if ([...sessions.values()].includes(null)) {
    return following.flatMap(({ from }) =>
      Array.from({ length: SESSION_HOURS }, (_, i) => from + i * HOUR_MS),
    );
  }
  const rows = await db.query(
    {
      name: 'seal: hours of late sessions',
      sql: sql`SELECT DISTINCT toUnixTimestamp(toStartOfHour(timestamp)) * 1000 AS hour FROM events
WHERE ${ofApp(app)} AND type IN ('pageview', 'error') AND ${inEachHour(following)}
    AND (session_id, started_at) IN (${lateSessions(app, 'page', late)})`,
      row: HOUR_ROW,
    },
    {},
    { lane: 'seal' },
  );
  return rows.map(({ hour }) => hour);
}

const FACT_ROWS = sql`SELECT visitor, '' AS words, started_at AS started FROM visitor_sessions
        WHERE app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)}
        UNION ALL
        SELECT visitor, arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\\0'), started_at FROM utm_facts
        WHERE app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)}`;

/**
 * Returns the hours of the next sessions of changed ones, whose `prev` changes. A session has changed if the
 * sessions as they are now and the facts differ in its start, visitor or campaign.
 */
async function hoursOfVisitors(
  { db, app, dead, isKept }: Touched,
  late: readonly LateHour[],
): Promise<number[]> {
  const hours = late.map(({ hour }) => hour);
  const spans = asSpans(hours);
  const query: Query<{ hour: number }> = {
    name: 'seal: sessions after changed ones',
    sql: sql`WITH
    now AS (
        SELECT visitor, started, utm_source, arrayStringConcat([${join(UTM.map(identifier))}], '\\0') AS words FROM
        (
            SELECT toUnixTimestamp64Milli(s.started_at) AS started, ${sessionColumns(['visitor', ...UTM])}
            FROM ${sessionRows(isKept)} AS s
            WHERE app_id IN {apps:Array(UUID)} AND ${inMs(sql`toUnixTimestamp64Milli(started_at)`, spans)}
                AND started_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
            GROUP BY s.started_at, s.session
        )),
    changed AS (
        SELECT visitor, words, started FROM
        (
            SELECT visitor, '' AS words, started, 1 AS n FROM now
            UNION ALL
            SELECT visitor, words, started, 1 FROM now WHERE utm_source != ''
            UNION ALL
            SELECT visitor, words, started, -1 FROM (${FACT_ROWS}) WHERE ${inMs(sql`started`, spans)}
        )
        GROUP BY visitor, words, started HAVING sum(n) != 0)
SELECT DISTINCT intDiv(v.started, ${HOUR_MS}) * ${HOUR_MS} AS hour
FROM changed AS c
ASOF JOIN (SELECT * FROM (${FACT_ROWS}) WHERE visitor IN (SELECT visitor FROM changed)) AS v
    ON v.visitor = c.visitor AND v.words = c.words AND v.started > c.started
LIMIT ${MOST_HOURS + 1}`,
    row: HOUR_ROW,
  };
  const first = hours[0] ?? 0;
  const params = { apps: [app], dead, from: first, to: (hours.at(-1) ?? first) + HOUR_MS };
  const next = await db.query(query, params, { lane: 'seal' });
  return next.map(({ hour }) => hour);
}
