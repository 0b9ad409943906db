-- event sums
SELECT
    toString(toUInt8((toUnixTimestamp(bucket) * 1000) >= 1794913200000)) AS slice,
    sum(t.pageviews),
    sum(t.clicks),
    sum(t.errors)
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794646800), (1, 1794650400), (1, 1794654000), (1, 1794657600), (1, 1794661200), (1, 1794664800), (1, 1794668400), (1, 1794672000), (1, 1794675600), (1, 1794679200), (1, 1794682800), (1, 1794686400), (1, 1794690000), (1, 1794693600), (1, 1794697200), (1, 1794873600), (1, 1794877200), (1, 1794880800), (1, 1794884400), (1, 1794888000), (1, 1794891600), (1, 1794895200), (1, 1794898800), (1, 1794902400), (1, 1794906000), (2, 1794700800), (2, 1794787200), (1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY slice;

-- parts of hours, events
SELECT
    toString(intDiv(toUnixTimestamp64Milli(timestamp) - 1794645661479, 265168644)) AS slice,
    countIf(type = 'pageview'),
    countIf(type = 'click'),
    countIf(type = 'error')
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(toStartOfHour(timestamp) IN (1794643200, 1794909600, 1794909600)) AND (((timestamp >= fromUnixTimestamp64Milli(1794645661479, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794646799999, 'UTC'))) OR ((timestamp >= fromUnixTimestamp64Milli(1794909600000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794910830122, 'UTC'))) OR ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC'))))
GROUP BY slice;

-- parts of hours, totals
SELECT
    toString(intDiv(started_at - 1794645661479, 265168644)),
    count(),
    sum(bounced),
    sum(duration_ms),
    sum(pageviews),
    sum(clicks),
    sum(errors > 0),
    countIf(prev < greatest(toInt64(1794645661479), 1794645661479 + (intDiv(started_at - 1794645661479, 265168644) * 265168644))),
    countIf(prev = -1)
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((started_at >= 1794645661479) AND (started_at < 1794646800000)) OR ((started_at >= 1794909600000) AND (started_at < 1794910830123)) OR ((started_at >= 1794910830123) AND (started_at < 1794913200000)))
GROUP BY intDiv(started_at - 1794645661479, 265168644);

-- returning, totals
SELECT
    toString(toUInt8((toUnixTimestamp(day) * 1000) >= 1794913200000)) AS key,
    sum(sessions) AS n
FROM return_pairs
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((day >= 1794700800) AND (day < 1794873600)) AND (prev_day >= 1794700800)) OR (((day >= 1794960000) AND (day < 1795132800)) AND (prev_day >= 1794960000)))
GROUP BY key
UNION ALL
SELECT
    toString(toUInt8(prev >= 1794913200000)) AS key,
    count() AS n
FROM session_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((prev >= 1794646800000) AND (prev < 1794700800000)) AND (started_at < 1794909600000)) OR (((prev >= 1794913200000) AND (prev < 1794960000000)) AND (started_at < 1795172400000)))
GROUP BY key
UNION ALL
SELECT
    toString(toUInt8(started_at >= 1794913200000)) AS key,
    count() AS n
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((started_at >= 1794873600000) AND (started_at < 1794909600000)) AND (prev >= 1794700800000)) OR (((started_at >= 1795132800000) AND (started_at < 1795172400000)) AND (prev >= 1794960000000)))
GROUP BY key;

-- returns of a part, totals
SELECT
    toString(0) AS name,
    count()
FROM session_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((prev >= 1794645661479) AND (prev < 1794646800000)) AND ((started_at >= 1794646800000) AND (started_at < 1794909600000))
GROUP BY name
UNION ALL
SELECT
    toString(1) AS name,
    count()
FROM session_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((prev >= 1794910830123) AND (prev < 1794913200000)) AND ((started_at >= 1794913200000) AND (started_at < 1795172400000))
GROUP BY name;

-- session sums
SELECT
    toString(toUInt8((toUnixTimestamp(bucket) * 1000) >= 1794913200000)) AS key,
    sum(s.sessions),
    sum(s.bounces),
    sum(s.duration_ms),
    sum(s.pageviews),
    sum(s.clicks),
    sum(s.with_errors),
    sum(s.sessions),
    sum(s.new_visitors)
FROM session_sums AS s
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794646800), (1, 1794648600), (1, 1794650400), (1, 1794652200), (1, 1794654000), (1, 1794655800), (1, 1794657600), (1, 1794659400), (1, 1794661200), (1, 1794663000), (1, 1794664800), (1, 1794666600), (1, 1794668400), (1, 1794670200), (1, 1794672000), (1, 1794673800), (1, 1794675600), (1, 1794677400), (1, 1794679200), (1, 1794681000), (1, 1794682800), (1, 1794684600), (1, 1794686400), (1, 1794688200), (1, 1794690000), (1, 1794691800), (1, 1794693600), (1, 1794695400), (1, 1794697200), (1, 1794699000), (1, 1794873600), (1, 1794875400), (1, 1794877200), (1, 1794879000), (1, 1794880800), (1, 1794882600), (1, 1794884400), (1, 1794886200), (1, 1794888000), (1, 1794889800), (1, 1794891600), (1, 1794893400), (1, 1794895200), (1, 1794897000), (1, 1794898800), (1, 1794900600), (1, 1794902400), (1, 1794904200), (1, 1794906000), (1, 1794907800), (2, 1794700800), (2, 1794787200), (1, 1794913200), (1, 1794915000), (1, 1794916800), (1, 1794918600), (1, 1794920400), (1, 1794922200), (1, 1794924000), (1, 1794925800), (1, 1794927600), (1, 1794929400), (1, 1794931200), (1, 1794933000), (1, 1794934800), (1, 1794936600), (1, 1794938400), (1, 1794940200), (1, 1794942000), (1, 1794943800), (1, 1794945600), (1, 1794947400), (1, 1794949200), (1, 1794951000), (1, 1794952800), (1, 1794954600), (1, 1794956400), (1, 1794958200), (1, 1795132800), (1, 1795134600), (1, 1795136400), (1, 1795138200), (1, 1795140000), (1, 1795141800), (1, 1795143600), (1, 1795145400), (1, 1795147200), (1, 1795149000), (1, 1795150800), (1, 1795152600), (1, 1795154400), (1, 1795156200), (1, 1795158000), (1, 1795159800), (1, 1795161600), (1, 1795163400), (1, 1795165200), (1, 1795167000), (1, 1795168800), (1, 1795170600), (2, 1794960000), (2, 1795046400)))
GROUP BY key;

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
