-- event sums
SELECT
    toString(intDiv(toUnixTimestamp(bucket), 86400)) AS slice,
    sum(t.pageviews),
    sum(t.clicks),
    sum(t.errors)
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY slice;

-- parts of hours, events
SELECT
    toString(intDiv(toUnixTimestamp64Milli(timestamp) - 0, 86400000)) AS slice,
    countIf(type = 'pageview'),
    countIf(type = 'click'),
    countIf(type = 'error')
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(toStartOfHour(timestamp) IN (1794909600)) AND ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC')))
GROUP BY slice;

-- parts of hours, totals
SELECT
    toString(intDiv(started_at - 0, 86400000)),
    count(),
    sum(bounced),
    sum(duration_ms),
    sum(pageviews),
    sum(clicks),
    sum(errors > 0),
    countIf(prev < greatest(toInt64(1794910830123), 0 + (intDiv(started_at - 0, 86400000) * 86400000))),
    countIf(prev = -1)
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794960000000))
GROUP BY intDiv(started_at - 0, 86400000);

-- session sums by day
SELECT
    toString(intDiv(toUnixTimestamp(bucket), 86400)) AS day,
    sum(s.sessions),
    0,
    0,
    0,
    0,
    0,
    sum(s.day_visitors),
    0
FROM session_sums AS s
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((grain = 2) AND ((bucket >= 1794960000) AND (bucket < 1795132800))) OR ((grain = 1) AND ((bucket >= 1795132800) AND (bucket < 1795172400))))
GROUP BY day;

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
