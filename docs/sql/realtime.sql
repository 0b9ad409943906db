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
                true AS is_pending
            FROM events
            WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement')) AND ((toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795174260000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175999999, 'UTC'))))
        )
        GROUP BY
            kind,
            key,
            session_id,
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

-- realtime, first start
SELECT toUnixTimestamp64Milli(min(e.started_at))
FROM events AS e
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((toStartOfHour(timestamp) >= 1795172400) AND (toStartOfHour(timestamp) <= 1795176000)) AND ((timestamp >= fromUnixTimestamp64Milli(1795174260000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795176059999, 'UTC')))
HAVING count() > 0;
