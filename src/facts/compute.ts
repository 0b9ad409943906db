import { type Sql, sql } from '../clickhouse/sql.ts';
import type { FactKind } from './kinds.ts';
import { placeText } from './place.ts';
import { contextsFromEvents, rowsFromEvents } from './session-rows.ts';
import { channelOf, FIRST, firstText, lastText } from './session-states.ts';

/**
 * Page facts of the hours in [from, to) of `apps`: one row per hour, key and session, with the last time
 * before the hour at which the pair occurred. A session lasts at most 24 h, so the events of the 24 h before
 * `from` are read too, but only those that the facts of their hours hold. The raw table is sorted by hour.
 * The engine does not derive a bound on the hour from a bound on the time, so the conditions name the hour.
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
  whole: rowsFromEvents(EVENTS),
  contexts: contextsFromEvents(EVENTS),
};
const FROM_SESSIONS: Rows = { whole: sql`sessions`, contexts: sql`sessions` };

/**
 * SQL of all rows of sessions of `{apps}` that started in [`{from}`, `{to}`), with the columns of `sessions`.
 */
export const sessionRows = (isKept: boolean): Sql => (isKept ? FROM_SESSIONS : FROM_EVENTS).whole;

/** Visitors with a session in the stretch. A few too many do no harm. */
const visitorsSql = (rows: Sql): Sql =>
  sql`SELECT app_id, reinterpretAsUInt128(sipHash128(s.visitor.2)) FROM ${rows} AS s
            WHERE ${STARTED}`;

/**
 * Session facts of the sessions that started in [from, to): the context, the totals, and the start of the
 * visitor's previous session, of any kind (`prev`) and with the same UTM combination (`utm_prev`). Sessions
 * that start in the same ms are ordered by their id.
 */
const sessionSql = ({ whole, contexts }: Rows): Sql => sql`INSERT INTO session_stage
SELECT
    app_id, {run:UInt64}, started, visitor, prev, utm_prev, n_events, duration_ms, n_pageviews, n_clicks, n_errors,
    n_pageviews <= 1 AND n_clicks = 0 AND n_customs = 0,
    technology_[2], technology_[3], technology_[4], screen_, language_,
    ${channelOf([sql`referrer_[3]`, sql`source_[2]`, sql`medium_[2]`], [sql`campaign_`, sql`term_`, sql`content_`])},
    referrer_[2], entry_page, exit_page, source_value, medium_value, campaign_, term_, content_,
    country_, ${placeText(sql`country_`, sql`region_`, sql`city_`, sql`latitude_`, sql`longitude_`)}, ${READ_BEFORE}
FROM
(
    SELECT *,
        lagInFrame(started, 1, toInt64(-1)) OVER (
            PARTITION BY app_id, visitor ORDER BY started, session
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS prev,
        lagInFrame(started, 1, toInt64(-1)) OVER (
            PARTITION BY app_id, visitor, source_value, medium_value, campaign_, term_, content_ ORDER BY started, session
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS utm_prev
    FROM
    (
        SELECT
            s.app_id AS app_id,
            toUnixTimestamp64Milli(s.started_at) AS started,
            s.session AS session,
            reinterpretAsUInt128(sipHash128(${firstText(sql`s.visitor`)})) AS visitor,
            sum(s.events) AS n_events,
            toUInt64(max(s.last_offset)) AS duration_ms,
            sum(s.pageviews) AS n_pageviews,
            sum(s.clicks) AS n_clicks,
            sum(s.errors) AS n_errors,
            sum(s.customs) AS n_customs,
            ${FIRST.technology} AS technology_,
            ${firstText(sql`s.screen`)} AS screen_,
            ${firstText(sql`s.language`)} AS language_,
            ${FIRST.referrer} AS referrer_,
            ${FIRST.source} AS source_,
            ${FIRST.medium} AS medium_,
            ${firstText(sql`s.entry`)} AS entry_page,
            ${lastText(sql`s.exit`)} AS exit_page,
            source_[1] AS source_value,
            medium_[1] AS medium_value,
            ${firstText(sql`s.utm_campaign`)} AS campaign_,
            ${firstText(sql`s.utm_term`)} AS term_,
            ${firstText(sql`s.utm_content`)} AS content_,
            ${firstText(sql`s.country`)} AS country_,
            ${firstText(sql`s.region`)} AS region_,
            ${firstText(sql`s.city`)} AS city_,
            min(s.latitude).2 AS latitude_,
            min(s.longitude).2 AS longitude_
        FROM ${whole} AS s
        WHERE ${STARTED}
        GROUP BY s.app_id, s.started_at, s.session
        UNION ALL
        SELECT app_id, max(started_at), 0, visitor, 0, 0, 0, 0, 0, 0,
            ['', '', '', ''], '', '', ['', '', '7'], ['', '7'], ['', '7'], '', '',
            '', '', '', '', '', '', '', '', 0, 0
        FROM visitor_sessions
        WHERE app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)} AND started_at < {from:Int64}
            AND (app_id, visitor) IN (${visitorsSql(contexts)})
        GROUP BY app_id, visitor
        UNION ALL
        SELECT app_id, max(started_at), 0, visitor, 0, 0, 0, 0, 0, 0,
            ['', '', '', ''], '', '', ['', '', '7'], ['', '7'], ['', '7'], '', '',
            utm_source, utm_medium, utm_campaign, utm_term, utm_content, '', '', '', 0, 0
        FROM utm_facts
        WHERE app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)} AND started_at < {from:Int64}
            AND (app_id, visitor) IN (${visitorsSql(contexts)})
        GROUP BY app_id, visitor, utm_source, utm_medium, utm_campaign, utm_term, utm_content
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
