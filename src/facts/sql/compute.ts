import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { FactKind } from '../../domain/fact-kinds.ts';
import { SESSION_COLUMNS, sessionColumns, visitorOf } from './session-columns.ts';
import { contextsFromEvents, rowsFromEvents } from './session-rows.ts';
import { UTM } from './tables.ts';

/**
 * Page facts of the hours in [from, to) of `apps`: one row per hour, pair and session, with the last time
 * before the hour at which the pair occurred in the session. A session lasts at most 24 h, so the events of the
 * 24 h before `from` are read too, but only those that the facts of their hours hold. The raw table is sorted by
 * hour. The engine does not derive a bound on the hour from a bound on the time, so the conditions name the hour.
 */
const PAGE_SQL = sql`INSERT INTO page_stage
SELECT app_id, {run:UInt64}, kind, hour, key, all_events, events, engaged_ms, engagements, prev_at, first_at, inserted
FROM
(
    SELECT
        app_id, kind, hour, key, all_events, events, engaged_ms, engagements, first_at, inserted,
        if(paired, lagInFrame(last_at, 1, toInt64(-1)) OVER (
            PARTITION BY app_id, kind, key, session, started ORDER BY hour
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), toInt64(-1)) AS prev_at
    FROM
    (
        SELECT
            app_id,
            multiIf(type IN ('pageview', 'engagement'), 'page', toString(type)) AS kind,
            toDateTime(toStartOfHour(timestamp, 'UTC'), 'UTC') AS hour,
            if(kind = 'page', path, label) AS key,
            type IN ('pageview', 'error') AS paired,
            if(paired, session_id, '') AS session,
            if(paired, toUnixTimestamp64Milli(started_at), 0) AS started,
            count() AS all_events,
            countIf(type != 'engagement') AS events,
            sum(duration_ms) AS engaged_ms,
            countIf(type = 'engagement') AS engagements,
            min(toUnixTimestamp64Milli(timestamp)) AS first_at,
            max(toUnixTimestamp64Milli(timestamp)) AS last_at,
            max(toUnixTimestamp64Milli(inserted_at)) AS inserted
        FROM
        (
            SELECT app_id, timestamp, type, path, label, session_id, started_at, duration_ms, inserted_at FROM events
            WHERE app_id IN {apps:Array(UUID)}
                AND toStartOfHour(timestamp) >= toDateTime(intDiv({from:Int64}, 1000), 'UTC')
                AND toStartOfHour(timestamp) < toDateTime(intDiv({to:Int64}, 1000), 'UTC')
            UNION ALL
            SELECT e.app_id, e.timestamp, e.type, e.path, e.label, e.session_id, e.started_at, e.duration_ms, e.inserted_at
            FROM events AS e
            INNER JOIN (
                SELECT app_id, hour, max(h.inserted_until) AS held_until FROM sealed_hours AS h
                WHERE app_id IN {apps:Array(UUID)} AND kind = 'page' AND run NOT IN {dead:Array(UInt64)}
                    AND hour >= toDateTime(greatest(intDiv({from:Int64}, 1000) - 86400, 0), 'UTC')
                    AND hour < toDateTime(intDiv({from:Int64}, 1000), 'UTC')
                GROUP BY app_id, hour) AS h
            ON h.app_id = e.app_id AND h.hour = toDateTime(toStartOfHour(e.timestamp, 'UTC'), 'UTC')
            WHERE e.app_id IN {apps:Array(UUID)}
                AND toStartOfHour(e.timestamp) >= toDateTime(greatest(intDiv({from:Int64}, 1000) - 86400, 0), 'UTC')
                AND toStartOfHour(e.timestamp) < toDateTime(intDiv({from:Int64}, 1000), 'UTC')
                AND e.type IN ('pageview', 'error')
                AND toUnixTimestamp64Milli(e.inserted_at) <= h.held_until
                AND (e.app_id, e.session_id, e.started_at) IN (
                    SELECT app_id, session_id, started_at FROM events
                    WHERE app_id IN {apps:Array(UUID)}
                        AND toStartOfHour(timestamp) >= toDateTime(intDiv({from:Int64}, 1000), 'UTC')
                        AND toStartOfHour(timestamp) < toDateTime(intDiv({to:Int64}, 1000), 'UTC')
                        AND started_at < fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
        )
        GROUP BY app_id, kind, hour, key, paired, session, started
    )
)
WHERE hour >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')`;

/** Evaluated before the statement reads anything: its rows hold no event that is inserted later. */
const READ_BEFORE = sql`toUnixTimestamp64Milli(now64(3))`;

/**
 * Tables with the columns of `sessions`. `whole` has all rows of the stretch; `contexts` only those with a
 * context, at least one for each session.
 */
interface Rows {
  readonly whole: Sql;
  readonly contexts: Sql;
}

const STARTED = sql`app_id IN {apps:Array(UUID)}
        AND started_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
        AND started_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;
/** A session lasts at most 24 h. */
const EVENTS = sql`${STARTED}
        AND toStartOfHour(timestamp) >= toDateTime(intDiv({from:Int64}, 1000), 'UTC')
        AND toStartOfHour(timestamp) <= toDateTime(intDiv({to:Int64}, 1000) + 86400, 'UTC')`;
const FROM_EVENTS: Rows = {
  whole: rowsFromEvents(EVENTS, SESSION_COLUMNS),
  contexts: contextsFromEvents(EVENTS, ['visitor']),
};
const FROM_SESSIONS: Rows = { whole: sql`sessions`, contexts: sql`sessions` };

/**
 * SQL of all rows of sessions of `{apps}` that started in [`{from}`, `{to}`), with the columns of `sessions`.
 */
export const sessionRows = (isKept: boolean): Sql => (isKept ? FROM_SESSIONS : FROM_EVENTS).whole;

/** Visitors with a session in the stretch. A few too many do no harm. */
const visitorsSql = (rows: Sql): Sql =>
  sql`SELECT app_id, ${visitorOf(sql`s.visitor.2`)} FROM ${rows} AS s
            WHERE ${STARTED}`;

/** The columns of a session in `session_stage`, besides its identity, its visitor and its links. */
const NUMBERS = ['events', 'duration_ms', 'pageviews', 'clicks', 'errors', 'bounced'] as const;
const WORDS = [
  'browser',
  'os',
  'device',
  'screen',
  'language',
  'channel',
  'referrer',
  'entry_page',
  'exit_page',
  ...UTM,
  'country',
  'region',
  'city',
  'place',
] as const;
const STAGED = [...NUMBERS, ...WORDS] as const;

/** SQL of sealed sessions as rows with the same columns: the last one of each visitor, with no column but `keys`. */
const lastSessions = (table: Sql, keys: readonly string[], contexts: Sql): Sql => {
  const keyColumns = join([sql`app_id`, sql`visitor`, ...keys.map(identifier)]);
  const columns = [
    ...NUMBERS.map(() => sql`0`),
    ...WORDS.map((word) => (keys.includes(word) ? identifier(word) : sql`''`)),
  ];
  return sql`SELECT app_id, max(started_at), 0, visitor, ${join(columns)}
        FROM ${table}
        WHERE app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)} AND started_at < {from:Int64}
            AND (app_id, visitor) IN (${visitorsSql(contexts)})
        GROUP BY ${keyColumns}`;
};

/**
 * Session facts of the sessions that started in [from, to): the totals, the context, and the start of the
 * visitor's previous session, of any kind (`prev`) and with the same UTM combination (`utm_prev`). Sessions
 * that start in the same ms are ordered by their id.
 */
const sessionSql = ({ whole, contexts }: Rows): Sql => sql`INSERT INTO session_stage
    (app_id, run, started_at, session, visitor, prev, utm_prev, ${join(STAGED.map(identifier))}, inserted_until)
SELECT app_id, {run:UInt64}, started, session, visitor, prev, utm_prev, ${join(STAGED.map(identifier))}, ${READ_BEFORE}
FROM
(
    SELECT *,
        lagInFrame(started, 1, toInt64(-1)) OVER (
            PARTITION BY app_id, visitor ORDER BY started, session
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS prev,
        lagInFrame(started, 1, toInt64(-1)) OVER (
            PARTITION BY app_id, visitor, ${join(UTM.map(identifier))} ORDER BY started, session
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS utm_prev
    FROM
    (
        SELECT s.app_id AS app_id, toUnixTimestamp64Milli(s.started_at) AS started, s.session AS session,
            ${sessionColumns(['visitor', ...STAGED])}
        FROM ${whole} AS s
        WHERE ${STARTED}
        GROUP BY s.app_id, s.started_at, s.session
        UNION ALL
        ${lastSessions(sql`visitor_sessions`, [], contexts)}
        UNION ALL
        ${lastSessions(sql`utm_facts`, UTM, contexts)}
    )
)
WHERE started >= {from:Int64}`;

/**
 * Returns an INSERT … SELECT for the run `{run}`. It computes the facts of `{apps}` in [`{from}`, `{to}`),
 * whole hours in epoch ms, and ignores rows of `{dead}` runs. `isKept`: `sessions` holds all sessions of the
 * stretch.
 */
export function compute(kind: FactKind, isKept: boolean): Sql {
  return kind === 'page' ? PAGE_SQL : sessionSql(isKept ? FROM_SESSIONS : FROM_EVENTS);
}
