-- breakdown
SELECT
    name,
    sessions,
    visitors,
    views,
    bounces,
    duration,
    total
FROM
(
    SELECT
        toString(country) AS name,
        count() AS sessions,
        uniqExact(visitor) AS visitors,
        sum(pageviews) AS views,
        sum(bounced) AS bounces,
        sum(duration_ms) AS duration,
        sum(count()) OVER () AS total
    FROM
    (
        SELECT
            started_at,
            session,
            visitor,
            country,
            pageviews,
            bounced,
            duration_ms
        FROM session_facts
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1795172400000)) AND true
        UNION ALL
        SELECT
            started_at,
            session,
            visitor,
            toLowCardinality(country) AS country,
            pageviews,
            bounced,
            duration_ms
        FROM
        (
            SELECT *
            FROM
            (
                SELECT
                    toUnixTimestamp64Milli(started_at) AS started_at,
                    session,
                    visitor,
                    country,
                    pageviews,
                    bounced,
                    duration_ms
                FROM
                (
                    SELECT
                        s.started_at AS started_at,
                        s.session AS session,
                        reinterpretAsUInt128(sipHash128(s.visitor.2)) AS visitor,
                        s.country.2 AS country,
                        s.pageviews AS pageviews,
                        (s.pageviews <= 1) AND (s.clicks = 0) AND (s.customs = 0) AS bounced,
                        s.last_offset AS duration_ms
                    FROM sessions AS s
                    FINAL
                    PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
                )
            )
        )
        WHERE true
    )
    GROUP BY country
)
ORDER BY
    sessions DESC,
    name = '' ASC,
    name ASC
LIMIT 3;

-- sessions without details
SELECT max(started_at)
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (started_at < 1795172400000) AND (session = 0)
HAVING count() > 0;
