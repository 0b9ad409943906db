-- slices, sums of events
SELECT
    toString(least(toInt64(1795174200000), 1792758600000 + (intDiv((toUnixTimestamp(bucket) * 1000) - 1792758600000, 3600000) * 3600000))) AS slice,
    sum(t.pageviews),
    sum(t.clicks),
    sum(t.errors)
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain = 3) AND (bucket >= 1792758600) AND (bucket < 1795170600)
GROUP BY slice;

-- tehran hours: sessions
SELECT
    toString(least(toInt64(1795174200000), 1792758600000 + (intDiv((toUnixTimestamp(bucket) * 1000) - 1792758600000, 3600000) * 3600000))) AS hour,
    sum(s.sessions),
    0,
    0,
    0,
    0,
    0,
    sum(s.tehran_visitors),
    0
FROM session_sums AS s
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain = 1) AND ((bucket >= 1792758600) AND (bucket < 1795172400))
GROUP BY hour;

-- unsealed sessions, totals
SELECT
    sign,
    toUnixTimestamp64Milli(started_at),
    base64Encode(reinterpretAsFixedString(visitor)),
    [''],
    toInt64(bounced),
    toInt64(duration_ms),
    toInt64(pageviews),
    toInt64(clicks),
    toInt64(errors > 0)
FROM
(
    SELECT
        toInt8(1) AS sign,
        started_at,
        bounced,
        duration_ms,
        pageviews,
        clicks,
        errors,
        visitor
    FROM
    (
        SELECT
            s.started_at AS started_at,
            s.session AS session,
            (s.pageviews <= 1) AND (s.clicks = 0) AND (s.customs = 0) AS bounced,
            s.last_offset AS duration_ms,
            s.pageviews AS pageviews,
            s.clicks AS clicks,
            s.errors AS errors,
            reinterpretAsUInt128(sipHash128(s.visitor.2)) AS visitor
        FROM sessions AS s
        FINAL
        PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(10413791999999, 'UTC')))
    )
)
LIMIT 20001;

-- unsealed traffic
SELECT
    concat(toString(toUInt8(grain)), ' ', toString(toUnixTimestamp(bucket) * 1000)) AS hour,
    sum(t.pageviews),
    sum(t.clicks),
    sum(t.errors)
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain IN (1, 3)) AND (bucket >= 1795170600)
GROUP BY
    grain,
    bucket;

-- visits, totals
SELECT
    base64Encode(reinterpretAsFixedString(visitor)),
    '' AS key,
    groupArray(started_at)
FROM visitor_sessions
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (started_at < 1795172400000) AND (visitor IN (
    SELECT arrayJoin(arrayMap(i -> reinterpretAsUInt128(substring(base64Decode('TXHyLXUIYGrDFSVCJr6Jun6u2GhGjoeo00SOSbuqwpg='), (i * 16) + 1, 16)), range(2)))
)) AND (started_at IN (
    SELECT started_at
    FROM visitor_sessions
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (started_at < 1795172400000) AND (visitor IN (
        SELECT arrayJoin(arrayMap(i -> reinterpretAsUInt128(substring(base64Decode('TXHyLXUIYGrDFSVCJr6Jun6u2GhGjoeo00SOSbuqwpg='), (i * 16) + 1, 16)), range(2)))
    ))
))
GROUP BY
    visitor,
    key;
