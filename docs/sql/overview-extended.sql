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
            WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 0) AND (started_at < 1795172400000))
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
    toUInt8(0) AS period,
    -toInt64(count()) AS visitors
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((started_at >= 1795132800000) AND (started_at < 1795172400000)) AND (prev >= 1794960000000))
GROUP BY period;

-- returning sessions
SELECT
    toUInt8(0) AS period,
    -toInt64(count()) AS visitors
FROM session_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((prev >= 1794913200000) AND (prev < 1794960000000)) AND (started_at < 1795172400000)) OR (((prev >= 1794910830123) AND (prev < 1794913200000)) AND (started_at < 1795172400000)))
GROUP BY period;

-- returning sessions
SELECT
    toUInt8(0) AS period,
    -toInt64(sum(sessions)) AS visitors
FROM return_pairs
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((day >= 1794960000) AND (day < 1795132800)) AND (prev_day >= 1794960000))
GROUP BY period;

-- session edges
SELECT
    toUInt8(0) AS period,
    count() AS sessions,
    sum(s.bounced) AS bounces,
    sum(s.duration_ms) AS durationMs,
    sum(s.pageviews) AS pageviews,
    sum(s.clicks) AS clicks,
    countIf(s.errors > 0) AS withErrors,
    countIf(NOT false) AS visitors,
    countIf(prev = -1) AS newVisitors
FROM session_facts AS s
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794913200000))
GROUP BY period;

-- session sums
SELECT
    toUInt8(0) AS period,
    sessions AS sessions,
    bounces AS bounces,
    duration_ms AS durationMs,
    pageviews AS pageviews,
    clicks AS clicks,
    with_errors AS withErrors,
    sessions AS visitors,
    new_visitors AS newVisitors
FROM session_sums
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794915000), (1, 1794916800), (1, 1794918600), (1, 1794920400), (1, 1794922200), (1, 1794924000), (1, 1794925800), (1, 1794927600), (1, 1794929400), (1, 1794931200), (1, 1794933000), (1, 1794934800), (1, 1794936600), (1, 1794938400), (1, 1794940200), (1, 1794942000), (1, 1794943800), (1, 1794945600), (1, 1794947400), (1, 1794949200), (1, 1794951000), (1, 1794952800), (1, 1794954600), (1, 1794956400), (1, 1794958200), (1, 1795132800), (1, 1795134600), (1, 1795136400), (1, 1795138200), (1, 1795140000), (1, 1795141800), (1, 1795143600), (1, 1795145400), (1, 1795147200), (1, 1795149000), (1, 1795150800), (1, 1795152600), (1, 1795154400), (1, 1795156200), (1, 1795158000), (1, 1795159800), (1, 1795161600), (1, 1795163400), (1, 1795165200), (1, 1795167000), (1, 1795168800), (1, 1795170600), (2, 1794960000), (2, 1795046400)));

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

-- sessions that go on
SELECT
    toUnixTimestamp64Milli(coalesce(minOrNull(started_at), fromUnixTimestamp64Milli(1795172400000, 'UTC'))) AS since,
    groupUniqArray(2001)(toUnixTimestamp64Milli(started_at)) AS starts
FROM events
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'error')) AND (toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175998766, 'UTC'))) AND (started_at < fromUnixTimestamp64Milli(1795172400000, 'UTC'));

-- top keys
SELECT
    kind,
    countIf(events > 0) AS keys,
    sum(events) AS allEvents,
    sum(engagedMs) AS allEngagedMs,
    groupArraySortedIf(10)((-events, name, sessions), events > 0) AS top
FROM
(
    SELECT
        toString(kind) AS kind,
        toString(if(key = '', '(none)', key)) AS name,
        sum(r.events) AS events,
        sum(r.sessions) AS sessions,
        sum(r.engaged_ms) AS engagedMs
    FROM
    (
        SELECT
            'page' AS kind,
            key,
            toInt64(f.events) AS events,
            toInt64(f.events - f.repeats) AS sessions,
            f.engaged_ms AS engaged_ms,
            f.engagements AS engagements
        FROM page_facts AS f
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, toStartOfDay(bucket), bucket) IN ((1, 1794873600, 1794913200), (1, 1794873600, 1794916800), (1, 1794873600, 1794920400), (1, 1794873600, 1794924000), (1, 1794873600, 1794927600), (1, 1794873600, 1794931200), (1, 1794873600, 1794934800), (1, 1794873600, 1794938400), (1, 1794873600, 1794942000), (1, 1794873600, 1794945600), (1, 1794873600, 1794949200), (1, 1794873600, 1794952800), (1, 1794873600, 1794956400), (1, 1795132800, 1795132800), (1, 1795132800, 1795136400), (1, 1795132800, 1795140000), (1, 1795132800, 1795143600), (1, 1795132800, 1795147200), (1, 1795132800, 1795150800), (1, 1795132800, 1795154400), (1, 1795132800, 1795158000), (1, 1795132800, 1795161600), (1, 1795132800, 1795165200), (1, 1795132800, 1795168800), (2, 1794960000, 1794960000), (2, 1795046400, 1795046400)))
        UNION ALL
        SELECT
            toString(kind) AS kind,
            key,
            toInt64(f.events) AS events,
            toInt64(f.events - f.repeats) AS sessions,
            toUInt64(0) AS engaged_ms,
            toUInt64(0) AS engagements
        FROM label_facts AS f
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (f.kind IN ('error', 'click', 'custom')) AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
        UNION ALL
        SELECT
            toString(kind) AS kind,
            key,
            toInt64(0) AS events,
            toInt64(1) AS sessions,
            toUInt64(0) AS engaged_ms,
            toUInt64(0) AS engagements
        FROM revisits AS v
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (v.kind IN ('page', 'error', 'click', 'custom')) AND (((v.hour >= 1794913200) AND (v.hour < 1794999600)) AND (prev_at < 1794913200000))
        UNION ALL
        SELECT
            toString(kind) AS kind,
            key,
            toInt64(0) AS events,
            toInt64(-1) AS sessions,
            toUInt64(0) AS engaged_ms,
            toUInt64(0) AS engagements
        FROM revisits AS v
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (v.kind IN ('page', 'error', 'click', 'custom')) AND (((v.hour >= 1794913200) AND (v.hour < 1794999600)) AND (prev_at >= 1794910830123) AND (prev_at < 1794913200000))
        UNION ALL
        SELECT
            if((type IN ('pageview', 'engagement')), 'page', toString(type)) AS kind,
            if((type IN ('pageview', 'engagement')), path, label) AS key,
            toInt64(countIf(type != 'engagement')) AS events,
            toInt64(uniqExactIf((session_id, started_at, 0), (type IN ('pageview', 'error')))) AS sessions,
            sum(duration_ms) AS engaged_ms,
            countIf(type = 'engagement') AS engagements
        FROM events
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement', 'error', 'click', 'custom')) AND (toStartOfHour(timestamp) IN (1794909600)) AND ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC')))
        GROUP BY
            kind,
            key
        UNION ALL
        SELECT
            if((type IN ('pageview', 'engagement')), 'page', toString(type)) AS kind,
            if((type IN ('pageview', 'engagement')), path, label) AS key,
            toInt64(countIf(type != 'engagement')) AS events,
            toInt64(uniqExactIf((session_id, started_at), (type IN ('pageview', 'error')))) AS sessions,
            sum(duration_ms) AS engaged_ms,
            countIf(type = 'engagement') AS engagements
        FROM events
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement', 'error', 'click', 'custom')) AND (toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
        GROUP BY
            kind,
            key
    ) AS r
    GROUP BY
        kind,
        name
)
GROUP BY kind;

-- top values
SELECT
    substring(key, 1, 1) AS letter,
    groupArraySorted(10)((-toInt64(sessions), substring(key, 2))) AS top
FROM
(
    SELECT
        key,
        sum(r.sessions) AS sessions
    FROM
    (
        SELECT
            key,
            d.sessions AS sessions
        FROM session_dimensions AS d
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
        UNION ALL
        SELECT
            if(length(word) = 1, concat(word, '(none)'), word) AS key,
            count() AS sessions
        FROM
        (
            SELECT arrayJoin([concat('a', browser), concat('b', os), concat('c', device), concat('d', screen), concat('e', language), concat('f', channel), concat('g', referrer_host), concat('h', country), concat('i', utm_source), concat('j', entry_path), concat('k', exit_path)]) AS word
            FROM
            (
                SELECT
                    browser AS browser,
                    os AS os,
                    device AS device,
                    screen AS screen,
                    language AS language,
                    channel AS channel,
                    referrer AS referrer_host,
                    country AS country,
                    utm_source AS utm_source,
                    entry_page AS entry_path,
                    exit_page AS exit_path,
                    started_at
                FROM session_facts
                WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794913200000))
            )
        )
        WHERE word NOT IN ('j', 'k')
        GROUP BY word
        UNION ALL
        SELECT
            if(length(word) = 1, concat(word, '(none)'), word) AS key,
            count() AS sessions
        FROM
        (
            SELECT arrayJoin([concat('a', browser), concat('b', os), concat('c', device), concat('d', screen), concat('e', language), concat('f', channel), concat('g', referrer_host), concat('h', country), concat('i', utm_source), concat('j', entry_path), concat('k', exit_path)]) AS word
            FROM
            (
                SELECT
                    s.started_at AS started_at,
                    s.session AS session,
                    splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.technology.1)), s.technology.2, '\0', s.technology.3, '\0', s.technology.4, '\0', s.technology.5)), 5))[2] AS browser,
                    splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.technology.1)), s.technology.2, '\0', s.technology.3, '\0', s.technology.4, '\0', s.technology.5)), 5))[3] AS os,
                    splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.technology.1)), s.technology.2, '\0', s.technology.3, '\0', s.technology.4, '\0', s.technology.5)), 5))[4] AS device,
                    substring(min(concat(reinterpretAsFixedString(byteSwap(s.screen.1)), s.screen.2)), 5) AS screen,
                    substring(min(concat(reinterpretAsFixedString(byteSwap(s.language.1)), s.language.2)), 5) AS language,
                    ['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(toUInt8(splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.referrer.1)), s.referrer.2, '\0', s.referrer.3, '\0', toString(s.referrer.4))), 5))[3]), toUInt8(splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_source.1)), s.utm_source.2, '\0', toString(s.utm_source.3))), 5))[2]), toUInt8(splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_medium.1)), s.utm_medium.2, '\0', toString(s.utm_medium.3))), 5))[2]), if((substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_campaign.1)), s.utm_campaign.2)), 5) != '') OR (substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_term.1)), s.utm_term.2)), 5) != '') OR (substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_content.1)), s.utm_content.2)), 5) != ''), 5, 7))] AS channel,
                    splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.referrer.1)), s.referrer.2, '\0', s.referrer.3, '\0', toString(s.referrer.4))), 5))[2] AS referrer_host,
                    substring(min(concat(reinterpretAsFixedString(byteSwap(s.country.1)), s.country.2)), 5) AS country,
                    splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_source.1)), s.utm_source.2, '\0', toString(s.utm_source.3))), 5))[1] AS utm_source,
                    substring(min(concat(reinterpretAsFixedString(byteSwap(s.entry.1)), s.entry.2)), 5) AS entry_path,
                    substring(max(concat(reinterpretAsFixedString(byteSwap(s.exit.1)), s.exit.2)), 5) AS exit_path
                FROM sessions AS s
                WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
                GROUP BY
                    s.started_at,
                    s.session
            )
        )
        WHERE word NOT IN ('j', 'k')
        GROUP BY word
    ) AS r
    GROUP BY key
)
GROUP BY letter;
