-- events
SELECT
    toString(name),
    toInt64(count()) AS events,
    toInt64(uniqExact(started_at, session)) AS sessions,
    toInt64(uniqExact(visitor)) AS visitors
FROM
(
    SELECT
        started_at,
        session,
        visitor
    FROM session_facts
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794824430123) AND (started_at < 1795172400000)) AND true
    UNION ALL
    SELECT
        started_at,
        session,
        visitor
    FROM
    (
        SELECT *
        FROM
        (
            SELECT
                toUnixTimestamp64Milli(started_at) AS started_at,
                session,
                visitor
            FROM
            (
                SELECT
                    s.started_at AS started_at,
                    s.session AS session,
                    reinterpretAsUInt128(sipHash128(s.visitor.2)) AS visitor
                FROM sessions AS s
                FINAL
                PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
            )
        )
    )
    WHERE true
) AS s
INNER JOIN
(
    SELECT
        label AS name,
        toUnixTimestamp64Milli(e.started_at) AS started_at,
        session
    FROM events AS e
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(((toStartOfHour(timestamp) >= 1794909600) AND (toStartOfHour(timestamp) <= 1795172400))) AND ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175998766, 'UTC'))) AND (type = 'click')
) AS e USING (started_at, session)
GROUP BY name
ORDER BY
    events DESC,
    name = '' ASC,
    name ASC
LIMIT 3;

-- sessions without details
SELECT max(started_at)
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (started_at < 1795172400000) AND (session = 0)
HAVING count() > 0;
