-- pending keys
SELECT
    concat('page', ' ', toString(key) AS name) AS pair,
    sum(r.engagedMs) AS sum0,
    sum(r.events) AS sum1,
    sum(r.engagements) AS sum2
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
            countIf(is_pending AND false) AS pending_pairs,
            countIf((NOT is_pending) AND false) AS held_pairs,
            sumIf(duration_ms, is_pending) AS engaged,
            countIf(is_pending AND (type = 'engagement')) AS all_engagements
        FROM
        (
            SELECT
                *,
                session,
                (timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) OR (NOT (toUnixTimestamp64Milli(inserted_at) <= 1795176000000)) AS is_pending
            FROM events
            WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement')) AND (indexHint(toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175999999, 'UTC'))))
        )
        GROUP BY
            kind,
            key
    )
    GROUP BY
        kind,
        key
) AS r
GROUP BY name
ORDER BY
    sum0 DESC,
    pair ASC;

-- sealed keys
SELECT
    concat('page', ' ', toString(key) AS name) AS pair,
    sum(r.engagedMs) AS sum0,
    sum(r.events) AS sum1,
    sum(r.engagements) AS sum2
FROM
(
    SELECT
        'page' AS kind,
        key,
        toInt64(f.events) AS events,
        toInt64(f.events - f.repeats) AS sessions,
        f.engaged_ms AS engagedMs,
        f.engagements AS engagements
    FROM page_facts AS f
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, toStartOfDay(bucket), bucket) IN ((1, 1794873600, 1794913200), (1, 1794873600, 1794916800), (1, 1794873600, 1794920400), (1, 1794873600, 1794924000), (1, 1794873600, 1794927600), (1, 1794873600, 1794931200), (1, 1794873600, 1794934800), (1, 1794873600, 1794938400), (1, 1794873600, 1794942000), (1, 1794873600, 1794945600), (1, 1794873600, 1794949200), (1, 1794873600, 1794952800), (1, 1794873600, 1794956400), (1, 1795132800, 1795132800), (1, 1795132800, 1795136400), (1, 1795132800, 1795140000), (1, 1795132800, 1795143600), (1, 1795132800, 1795147200), (1, 1795132800, 1795150800), (1, 1795132800, 1795154400), (1, 1795132800, 1795158000), (1, 1795132800, 1795161600), (1, 1795132800, 1795165200), (1, 1795132800, 1795168800), (2, 1794960000, 1794960000), (2, 1795046400, 1795046400)))
    UNION ALL
    SELECT
        'page' AS kind,
        path AS key,
        toInt64(countIf(type != 'engagement')) AS events,
        toInt64(0) AS sessions,
        sum(duration_ms) AS engagedMs,
        countIf(type = 'engagement') AS engagements
    FROM events
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement')) AND indexHint(toStartOfHour(timestamp) IN (1794909600)) AND ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC'))) AND (toUnixTimestamp64Milli(inserted_at) <= 1795176000000)
    GROUP BY
        kind,
        key
) AS r
GROUP BY name
ORDER BY
    sum0 DESC,
    pair ASC;
