-- tehran hours: pageviews
SELECT
    toUnixTimestamp(bucket) AS hour,
    t.pageviews AS pageviews
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain = 3) AND ((bucket >= 1792758600) AND (bucket < 1795177800));

-- tehran hours: sessions
SELECT
    toUnixTimestamp(toStartOfHour(bucket, 'Asia/Tehran')) AS hour,
    sum(s.sessions) AS sessions,
    sum(s.tehran_visitors) AS visitors
FROM session_sums AS s
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain = 1) AND ((bucket >= 1792758600) AND (bucket < 1795170600))
GROUP BY hour;

-- tehran hours: tail
SELECT
    toUnixTimestamp(toStartOfHour(started_at, 'Asia/Tehran')) AS hour,
    count() AS sessions,
    uniqExact(visitor) AS visitors
FROM
(
    SELECT
        s.started_at AS started_at,
        s.session AS session,
        reinterpretAsUInt128(sipHash128(substring(min(concat(reinterpretAsFixedString(byteSwap(s.visitor.1)), s.visitor.2)), 5))) AS visitor
    FROM sessions AS s
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795170600000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795177799999, 'UTC')))
    GROUP BY
        s.started_at,
        s.session
)
GROUP BY hour;
