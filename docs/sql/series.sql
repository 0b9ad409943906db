-- hours, sums of events
SELECT
    toString(toUnixTimestamp(bucket) * 1000) AS at,
    sum(t.pageviews),
    sum(t.clicks),
    sum(t.errors)
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain = 1) AND ((bucket >= 1794938400) AND (bucket < 1795114800)) AND (intDiv((toUnixTimestamp(bucket) * 1000) - 0, 3600000) IN (498594, 498618, 498642))
GROUP BY bucket;

-- parts of hours, totals
SELECT
    toString(least(toInt64(1795112100000), 1794852900000 + (intDiv(started_at - 1794852900000, 86400000) * 86400000))),
    count(),
    sum(bounced),
    sum(duration_ms),
    sum(pageviews),
    sum(clicks),
    sum(errors > 0),
    countIf(prev < greatest(toInt64(1794910830123), 0 + (least(toInt64(1795112100000), 1794852900000 + (intDiv(started_at - 1794852900000, 86400000) * 86400000)) * 1))),
    countIf(prev = -1)
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1795172400000))
GROUP BY least(toInt64(1795112100000), 1794852900000 + (intDiv(started_at - 1794852900000, 86400000) * 86400000));

-- quarters, sums of events
SELECT
    toString(toUnixTimestamp(bucket) * 1000) AS at,
    sum(q.pageviews),
    sum(q.clicks),
    sum(q.errors)
FROM event_quarters AS q
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((bucket >= 1794938400) AND (bucket < 1795114800)) AND (intDiv((toUnixTimestamp(bucket) * 1000) - 0, 3600000) IN (498594, 498618, 498642))
GROUP BY bucket;

-- slices, raw events
SELECT
    toString(least(toInt64(1795112100000), 1794852900000 + (intDiv(toUnixTimestamp64Milli(timestamp) - 1794852900000, 86400000) * 86400000))) AS slice,
    countIf(type = 'pageview'),
    countIf(type = 'click'),
    countIf(type = 'error')
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(toStartOfHour(timestamp) IN (1794909600, 1795172400)) AND (((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC'))) OR ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175998766, 'UTC'))))
GROUP BY slice;

-- slices, sums of events
SELECT
    toString(least(toInt64(1795112100000), 1794852900000 + (intDiv((toUnixTimestamp(bucket) * 1000) - 1794852900000, 86400000) * 86400000))) AS slice,
    sum(t.pageviews),
    sum(t.clicks),
    sum(t.errors)
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (grain = 1) AND (bucket >= 1794913200) AND (bucket < 1795172400) AND (bucket NOT IN (1794938400, 1795024800, 1795111200))
GROUP BY slice;

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
