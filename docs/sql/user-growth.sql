-- growth cut days
SELECT
    intDiv(started_at, 86400000) AS day,
    count() AS sessions,
    countIf(prev < greatest(day * 86400000, 1794910830123)) AS visitors
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((started_at >= 1794910830123) AND (started_at < 1794960000000)) OR ((started_at >= 1795132800000) AND (started_at < 1795172400000)))
GROUP BY day;

-- growth event edges
SELECT
    intDiv(toUnixTimestamp64Milli(timestamp), 86400000) AS day,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'click') AS clicks
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (toStartOfHour(timestamp) IN (1794909600)) AND ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC')))
GROUP BY day;

-- growth event edges
SELECT
    intDiv(toUnixTimestamp64Milli(timestamp), 86400000) AS day,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'click') AS clicks
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
GROUP BY day;

-- growth events
SELECT
    intDiv(toUnixTimestamp(bucket), 86400) AS day,
    sum(t.pageviews) AS pageviews,
    sum(t.clicks) AS clicks
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY day;

-- growth sums
SELECT
    intDiv(toUnixTimestamp(bucket), 86400) AS day,
    sessions,
    day_visitors AS visitors
FROM session_sums
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain = 2) AND ((bucket >= 1794960000) AND (bucket < 1795132800));

-- growth tail
SELECT
    intDiv(toUnixTimestamp64Milli(started_at), 86400000) AS day,
    count() AS sessions,
    uniqExact(visitor) AS visitors
FROM
(
    SELECT
        s.started_at AS started_at,
        s.session AS session,
        reinterpretAsUInt128(sipHash128(substring(min(concat(reinterpretAsFixedString(byteSwap(s.visitor.1)), s.visitor.2)), 5))) AS visitor
    FROM sessions AS s
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
    GROUP BY
        s.started_at,
        s.session
)
GROUP BY day;

-- growth tail, known
SELECT uniqExact(visitor) AS n
FROM
(
    SELECT
        visitor,
        started_at
    FROM visitor_sessions
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1795132800000) AND (started_at < 1795172400000))
)
WHERE visitor IN (
    SELECT visitor
    FROM
    (
        SELECT
            s.started_at AS started_at,
            s.session AS session,
            reinterpretAsUInt128(sipHash128(substring(min(concat(reinterpretAsFixedString(byteSwap(s.visitor.1)), s.visitor.2)), 5))) AS visitor
        FROM sessions AS s
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
        GROUP BY
            s.started_at,
            s.session
    )
);
