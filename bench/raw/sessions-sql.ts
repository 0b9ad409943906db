/**
 * Sessions that started in [from, to], merged: one row each, with the whole session's totals and its resolved
 * context. Columns have the names of the answers; '' is absent. `channel` is the smallest signal of any
 * field, as documented in src/ingestion/channels.ts. A campaign, term or content points to `campaign` (5).
 */
export const SESSIONS_SQL = `
SELECT
    started_at, session, duration_ms, n_pageviews AS pageviews, n_clicks AS clicks, n_errors AS errors,
    n_pageviews <= 1 AND n_clicks = 0 AND n_customs = 0 AS bounced,
    entry_.2 AS entry_path, entry_.2 != '' AS has_page, exit_.2 AS exit_path,
    visitor_.2 AS visitor_id,
    technology_.3 AS browser, technology_.4 AS os, technology_.5 AS device, language_.2 AS language, screen_.2 AS screen,
    referrer_.3 AS referrer_host,
    source_.2 AS utm_source, medium_.2 AS utm_medium, campaign_.2 AS utm_campaign, term_.2 AS utm_term,
    content_.2 AS utm_content,
    least(referrer_.4, source_.3, medium_.3,
        if(campaign_.2 != '' OR term_.2 != '' OR content_.2 != '', 5, 7)) AS channel,
    country_.2 AS country, region_.2 AS region, city_.2 AS city, latitude_.2 AS latitude, longitude_.2 AS longitude
FROM
(
    SELECT
        s.started_at AS started_at,
        s.session AS session,
        max(s.last_offset) AS duration_ms,
        sum(s.pageviews) AS n_pageviews,
        sum(s.clicks) AS n_clicks,
        sum(s.errors) AS n_errors,
        sum(s.customs) AS n_customs,
        min(s.entry) AS entry_,
        max(s.exit) AS exit_,
        min(s.visitor) AS visitor_,
        min(s.technology) AS technology_,
        min(s.language) AS language_,
        min(s.screen) AS screen_,
        min(s.referrer) AS referrer_,
        min(s.utm_source) AS source_,
        min(s.utm_medium) AS medium_,
        min(s.utm_campaign) AS campaign_,
        min(s.utm_term) AS term_,
        min(s.utm_content) AS content_,
        min(s.country) AS country_,
        min(s.region) AS region_,
        min(s.city) AS city_,
        min(s.latitude) AS latitude_,
        min(s.longitude) AS longitude_
    FROM all_sessions AS s
    WHERE s.app_id = {app:UUID}
        AND s.started_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
        AND s.started_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY s.started_at, s.session
)`;
