-- event edges
SELECT
    toUInt8(toUnixTimestamp64Milli(timestamp) >= 1794910830123) AS period,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'click') AS clicks,
    countIf(type = 'error') AS errors
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (toStartOfHour(timestamp) IN (1794643200, 1794909600, 1794909600)) AND (((timestamp >= fromUnixTimestamp64Milli(1794645661479, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794646799999, 'UTC'))) OR ((timestamp >= fromUnixTimestamp64Milli(1794909600000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794910830122, 'UTC'))) OR ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC'))))
GROUP BY period;

-- event edges
SELECT
    toUInt8(toUnixTimestamp64Milli(timestamp) >= 1794910830123) AS period,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'click') AS clicks,
    countIf(type = 'error') AS errors
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
GROUP BY period;

-- event sums
SELECT
    toUInt8((toUnixTimestamp(bucket) * 1000) >= 1794913200000) AS period,
    sum(t.pageviews) AS pageviews,
    sum(t.clicks) AS clicks,
    sum(t.errors) AS errors
FROM traffic AS t
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794646800), (1, 1794650400), (1, 1794654000), (1, 1794657600), (1, 1794661200), (1, 1794664800), (1, 1794668400), (1, 1794672000), (1, 1794675600), (1, 1794679200), (1, 1794682800), (1, 1794686400), (1, 1794690000), (1, 1794693600), (1, 1794697200), (1, 1794873600), (1, 1794877200), (1, 1794880800), (1, 1794884400), (1, 1794888000), (1, 1794891600), (1, 1794895200), (1, 1794898800), (1, 1794902400), (1, 1794906000), (2, 1794700800), (2, 1794787200), (1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY period;

-- returning in the tail
SELECT
    count() AS known,
    countIf(last >= 1794910830123) AS inRange
FROM
(
    SELECT max(at) AS last
    FROM
    (
        SELECT
            visitor,
            started_at AS at
        FROM
        (
            SELECT
                visitor,
                started_at
            FROM visitor_sessions
            WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1795172400000))
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
        )
    )
    GROUP BY visitor
);

-- returning sessions
SELECT
    toUInt8((toUnixTimestamp(day) * 1000) >= 1794913200000) AS period,
    -toInt64(sum(sessions)) AS visitors
FROM return_pairs
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((day >= 1794700800) AND (day < 1794873600)) AND (prev_day >= 1794700800)) OR (((day >= 1794960000) AND (day < 1795132800)) AND (prev_day >= 1794960000)))
GROUP BY period;

-- returning sessions
SELECT
    toUInt8(prev >= 1794910830123) AS period,
    -toInt64(count()) AS visitors
FROM session_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((prev >= 1794646800000) AND (prev < 1794700800000)) AND (started_at < 1794909600000)) OR (((prev >= 1794913200000) AND (prev < 1794960000000)) AND (started_at < 1795172400000)) OR (((prev >= 1794645661479) AND (prev < 1794646800000)) AND (started_at < 1794910830123)) OR (((prev >= 1794910830123) AND (prev < 1794913200000)) AND (started_at < 1795172400000)))
GROUP BY period;

-- returning sessions
SELECT
    toUInt8(started_at >= 1794913200000) AS period,
    -toInt64(count()) AS visitors
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((started_at >= 1794873600000) AND (started_at < 1794909600000)) AND (prev >= 1794700800000)) OR (((started_at >= 1795132800000) AND (started_at < 1795172400000)) AND (prev >= 1794960000000)))
GROUP BY period;

-- session edges
SELECT
    toUInt8(started_at >= 1794910830123) AS period,
    count() AS sessions,
    sum(s.bounced) AS bounces,
    sum(s.duration_ms) AS durationMs,
    sum(s.pageviews) AS pageviews,
    sum(s.clicks) AS clicks,
    countIf(s.errors > 0) AS withErrors,
    countIf(NOT (((started_at >= 1794909600000) AND (started_at < 1794910830123)) AND (prev >= 1794646800000))) AS visitors,
    countIf(prev = -1) AS newVisitors
FROM session_facts AS s
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((started_at >= 1794645661479) AND (started_at < 1794646800000)) OR ((started_at >= 1794909600000) AND (started_at < 1794910830123)) OR ((started_at >= 1794910830123) AND (started_at < 1794913200000)))
GROUP BY period;

-- session sums
SELECT
    toUInt8((toUnixTimestamp(bucket) * 1000) >= 1794913200000) AS period,
    sessions AS sessions,
    bounces AS bounces,
    duration_ms AS durationMs,
    pageviews AS pageviews,
    clicks AS clicks,
    with_errors AS withErrors,
    sessions AS visitors,
    new_visitors AS newVisitors
FROM session_sums
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794646800), (1, 1794648600), (1, 1794650400), (1, 1794652200), (1, 1794654000), (1, 1794655800), (1, 1794657600), (1, 1794659400), (1, 1794661200), (1, 1794663000), (1, 1794664800), (1, 1794666600), (1, 1794668400), (1, 1794670200), (1, 1794672000), (1, 1794673800), (1, 1794675600), (1, 1794677400), (1, 1794679200), (1, 1794681000), (1, 1794682800), (1, 1794684600), (1, 1794686400), (1, 1794688200), (1, 1794690000), (1, 1794691800), (1, 1794693600), (1, 1794695400), (1, 1794697200), (1, 1794699000), (1, 1794873600), (1, 1794875400), (1, 1794877200), (1, 1794879000), (1, 1794880800), (1, 1794882600), (1, 1794884400), (1, 1794886200), (1, 1794888000), (1, 1794889800), (1, 1794891600), (1, 1794893400), (1, 1794895200), (1, 1794897000), (1, 1794898800), (1, 1794900600), (1, 1794902400), (1, 1794904200), (1, 1794906000), (1, 1794907800), (2, 1794700800), (2, 1794787200), (1, 1794913200), (1, 1794915000), (1, 1794916800), (1, 1794918600), (1, 1794920400), (1, 1794922200), (1, 1794924000), (1, 1794925800), (1, 1794927600), (1, 1794929400), (1, 1794931200), (1, 1794933000), (1, 1794934800), (1, 1794936600), (1, 1794938400), (1, 1794940200), (1, 1794942000), (1, 1794943800), (1, 1794945600), (1, 1794947400), (1, 1794949200), (1, 1794951000), (1, 1794952800), (1, 1794954600), (1, 1794956400), (1, 1794958200), (1, 1795132800), (1, 1795134600), (1, 1795136400), (1, 1795138200), (1, 1795140000), (1, 1795141800), (1, 1795143600), (1, 1795145400), (1, 1795147200), (1, 1795149000), (1, 1795150800), (1, 1795152600), (1, 1795154400), (1, 1795156200), (1, 1795158000), (1, 1795159800), (1, 1795161600), (1, 1795163400), (1, 1795165200), (1, 1795167000), (1, 1795168800), (1, 1795170600), (2, 1794960000), (2, 1795046400)));

-- session tail
SELECT
    count() AS sessions,
    sum(s.bounced) AS bounces,
    sum(s.duration_ms) AS durationMs,
    sum(s.pageviews) AS pageviews,
    sum(s.clicks) AS clicks,
    countIf(s.errors > 0) AS withErrors,
    uniqExact(visitor) AS visitors,
    visitors AS newVisitors
FROM
(
    SELECT
        s.started_at AS started_at,
        s.session AS session,
        (sum(s.pageviews) <= 1) AND (sum(s.clicks) = 0) AND (sum(s.customs) = 0) AS bounced,
        max(s.last_offset) AS duration_ms,
        sum(s.pageviews) AS pageviews,
        sum(s.clicks) AS clicks,
        sum(s.errors) AS errors,
        reinterpretAsUInt128(sipHash128(substring(min(concat(reinterpretAsFixedString(byteSwap(s.visitor.1)), s.visitor.2)), 5))) AS visitor
    FROM sessions AS s
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
    GROUP BY
        s.started_at,
        s.session
) AS s;
