-- pending keys
SELECT
    concat('page', ' ', toString(key) AS name) AS pair,
    sum(r.events) AS sum0,
    sum(r.sessions) AS sum1
FROM
(
    SELECT
        kind,
        key,
        toInt64(sum(all_events)) AS events,
        toInt64(countIf((pending_pairs > 0) AND (held_pairs = 0))) AS sessions,
        sum(engaged) AS engagedMs,
        sum(all_engagements) AS engagements
    FROM
    (
        SELECT
            'page' AS kind,
            path AS key,
            countIf(is_pending AND (type != 'engagement')) AS all_events,
            countIf(is_pending AND (type = 'pageview')) AS pending_pairs,
            countIf((NOT is_pending) AND (type = 'pageview')) AS held_pairs,
            sumIf(duration_ms, is_pending) AS engaged,
            countIf(is_pending AND (type = 'engagement')) AS all_engagements
        FROM
        (
            SELECT
                *,
                session,
                true AS is_pending
            FROM events
            WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement')) AND (indexHint(toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795174260000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175999999, 'UTC'))))
        )
        GROUP BY
            kind,
            key,
            session,
            started_at
    )
    GROUP BY
        kind,
        key
) AS r
GROUP BY name
ORDER BY
    sum0 DESC,
    pair ASC;

-- realtime
SELECT
    g.1 AS of,
    g.2 AS name,
    uniqExact(started_at, session),
    uniqExact(visitor),
    uniqExactIf(visitor, minute >= 25),
    sum(views)
FROM
(
    SELECT
        s.started_at AS started_at,
        s.session AS session,
        visitor,
        minute,
        views,
        arrayJoin([('all', ''), ('minute', toString(minute)), ('channel', toString(channel)), ('country', toString(country))]) AS g
    FROM
    (
        SELECT
            started_at,
            session,
            visitor,
            channel,
            country
        FROM session_facts
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1795087860000) AND (started_at < 1795172400000)) AND (started_at IN (
            SELECT toUnixTimestamp64Milli(started_at)
            FROM
            (
                SELECT e.started_at
                FROM events AS e
                WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(((toStartOfHour(timestamp) >= 1795172400) AND (toStartOfHour(timestamp) <= 1795176000))) AND ((timestamp >= fromUnixTimestamp64Milli(1795174260000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795176059999, 'UTC')))
            )
        )) AND true
        UNION ALL
        SELECT
            started_at,
            session,
            visitor,
            toLowCardinality(channel) AS channel,
            toLowCardinality(country) AS country
        FROM
        (
            SELECT *
            FROM
            (
                SELECT
                    toUnixTimestamp64Milli(started_at) AS started_at,
                    session,
                    visitor,
                    channel,
                    country
                FROM
                (
                    SELECT
                        s.started_at AS started_at,
                        s.session AS session,
                        reinterpretAsUInt128(sipHash128(s.visitor.2)) AS visitor,
                        ['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(toUInt8(s.referrer.4), toUInt8(s.utm_source.3), toUInt8(s.utm_medium.3), if(((s.utm_campaign.2) != '') OR ((s.utm_term.2) != '') OR ((s.utm_content.2) != ''), 5, 7))] AS channel,
                        s.country.2 AS country
                    FROM sessions AS s
                    FINAL
                    PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(1795176059999, 'UTC'))) AND (s.started_at IN (
                        SELECT e.started_at
                        FROM events AS e
                        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(((toStartOfHour(timestamp) >= 1795172400) AND (toStartOfHour(timestamp) <= 1795176000))) AND ((timestamp >= fromUnixTimestamp64Milli(1795174260000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795176059999, 'UTC')))
                    ))
                )
            )
        )
        WHERE true
    ) AS s
    INNER JOIN
    (
        SELECT
            toUnixTimestamp64Milli(started_at) AS started_at,
            session,
            intDiv(toUnixTimestamp64Milli(timestamp) - 1795174260000, 60000) AS minute,
            countIf(type = 'pageview') AS views
        FROM events AS e
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(((toStartOfHour(timestamp) >= 1795172400) AND (toStartOfHour(timestamp) <= 1795176000))) AND ((timestamp >= fromUnixTimestamp64Milli(1795174260000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795176059999, 'UTC')))
        GROUP BY
            1,
            2,
            3
    ) AS e ON (s.started_at = e.started_at) AND (s.session = e.session)
)
GROUP BY
    of,
    name;

-- sessions without details
SELECT max(started_at)
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (started_at < 1795172400000) AND (session = 0)
HAVING count() > 0;
