-- lists
SELECT
    key,
    sum(d.sessions)
FROM session_dimensions AS d
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY key;

-- parts of hours, lists
SELECT
    toString(arrayJoin(arrayMap(word -> if(length(word) = 1, concat(word, '(none)'), word), arrayFilter(word -> (word NOT IN ('j', 'k')), [concat('a', browser), concat('b', os), concat('c', device), concat('d', screen), concat('e', language), concat('f', channel), concat('g', referrer), concat('h', country), concat('i', utm_source), concat('j', entry_page), concat('k', exit_page)])))),
    count()
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794913200000))
GROUP BY arrayJoin(arrayMap(word -> if(length(word) = 1, concat(word, '(none)'), word), arrayFilter(word -> (word NOT IN ('j', 'k')), [concat('a', browser), concat('b', os), concat('c', device), concat('d', screen), concat('e', language), concat('f', channel), concat('g', referrer), concat('h', country), concat('i', utm_source), concat('j', entry_page), concat('k', exit_page)])));

-- parts of hours, totals
SELECT
    toString(intDiv(started_at - 1794910830123, 265168644)),
    count(),
    sum(bounced),
    sum(duration_ms),
    sum(pageviews),
    sum(clicks),
    sum(errors > 0),
    countIf(prev < greatest(toInt64(1794910830123), 1794910830123 + (intDiv(started_at - 1794910830123, 265168644) * 265168644))),
    countIf(prev = -1)
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794913200000))
GROUP BY intDiv(started_at - 1794910830123, 265168644);

-- pending keys
SELECT
    concat(toString(kind), ' ', toString(if(key = '', '(none)', key)) AS name) AS pair,
    sum(r.events) AS sum0,
    sum(r.sessions) AS sum1,
    sum(r.engagedMs) AS sum2
FROM
(
    SELECT
        kind,
        key,
        toInt64(sum(all_events)) AS events,
        toInt64(countIf((pending_pairs > 0) AND (held_pairs = 0))) AS sessions,
        sum(engaged) AS engagedMs,
        sum(all_engagements) AS engagements
    FROM
    (
        SELECT
            if((type IN ('pageview', 'engagement')), 'page', toString(type)) AS kind,
            if((type IN ('pageview', 'engagement')), path, label) AS key,
            countIf(is_pending AND (type != 'engagement')) AS all_events,
            countIf(is_pending AND (type IN ('pageview', 'error'))) AS pending_pairs,
            countIf((NOT is_pending) AND (type IN ('pageview', 'error'))) AS held_pairs,
            sumIf(duration_ms, is_pending) AS engaged,
            countIf(is_pending AND (type = 'engagement')) AS all_engagements
        FROM
        (
            SELECT
                *,
                session,
                (timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) OR (NOT (toUnixTimestamp64Milli(inserted_at) <= 1795176000000)) AS is_pending
            FROM events
            WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement', 'error', 'click', 'custom')) AND ((indexHint(toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175999999, 'UTC')))) OR (indexHint(((toStartOfHour(timestamp) >= 1795086000) AND (toStartOfHour(timestamp) <= 1795168800))) AND ((timestamp >= fromUnixTimestamp64Milli(1795086000000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795172399999, 'UTC'))) AND (toStartOfHour(timestamp) >= (
                SELECT toStartOfHour(min(started_at))
                FROM events
                WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175999999, 'UTC'))) AND (type IN ('pageview', 'error')) AND (started_at < fromUnixTimestamp64Milli(1795172400000, 'UTC'))
            )) AND (type IN ('pageview', 'error')) AND (started_at < fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND ((session, started_at) IN (
                SELECT DISTINCT
                    session,
                    started_at
                FROM events
                WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND indexHint(toStartOfHour(timestamp) IN (1795172400)) AND ((timestamp >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1795175999999, 'UTC'))) AND (type IN ('pageview', 'error')) AND (started_at < fromUnixTimestamp64Milli(1795172400000, 'UTC'))
            ))))
        )
        GROUP BY
            kind,
            key,
            session,
            started_at
    )
    GROUP BY
        kind,
        key
) AS r
GROUP BY
    kind,
    name
ORDER BY
    sum0 DESC,
    pair ASC;

-- returning, totals
SELECT
    toString(toUInt8(0)) AS key,
    sum(sessions) AS n
FROM return_pairs
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((day >= 1794960000) AND (day < 1795132800)) AND (prev_day >= 1794960000))
GROUP BY key
UNION ALL
SELECT
    toString(toUInt8(0)) AS key,
    count() AS n
FROM session_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((prev >= 1794913200000) AND (prev < 1794960000000)) AND (started_at < 1795172400000))
GROUP BY key
UNION ALL
SELECT
    toString(toUInt8(0)) AS key,
    count() AS n
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((started_at >= 1795132800000) AND (started_at < 1795172400000)) AND (prev >= 1794960000000))
GROUP BY key;

-- returns of a part, totals
SELECT
    toString(0) AS name,
    count()
FROM session_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((prev >= 1794910830123) AND (prev < 1794913200000)) AND ((started_at >= 1794913200000) AND (started_at < 1795172400000))
GROUP BY name;

-- sealed keys
SELECT
    concat(toString(kind), ' ', toString(if(key = '', '(none)', key)) AS name) AS pair,
    sum(r.events) AS sum0,
    sum(r.sessions) AS sum1,
    sum(r.engagedMs) AS sum2
FROM
(
    SELECT
        'page' AS kind,
        key,
        toInt64(f.events) AS events,
        toInt64(f.events - f.repeats) AS sessions,
        f.engaged_ms AS engagedMs,
        f.engagements AS engagements
    FROM page_facts AS f
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, toStartOfDay(bucket), bucket) IN ((1, 1794873600, 1794913200), (1, 1794873600, 1794916800), (1, 1794873600, 1794920400), (1, 1794873600, 1794924000), (1, 1794873600, 1794927600), (1, 1794873600, 1794931200), (1, 1794873600, 1794934800), (1, 1794873600, 1794938400), (1, 1794873600, 1794942000), (1, 1794873600, 1794945600), (1, 1794873600, 1794949200), (1, 1794873600, 1794952800), (1, 1794873600, 1794956400), (1, 1795132800, 1795132800), (1, 1795132800, 1795136400), (1, 1795132800, 1795140000), (1, 1795132800, 1795143600), (1, 1795132800, 1795147200), (1, 1795132800, 1795150800), (1, 1795132800, 1795154400), (1, 1795132800, 1795158000), (1, 1795132800, 1795161600), (1, 1795132800, 1795165200), (1, 1795132800, 1795168800), (2, 1794960000, 1794960000), (2, 1795046400, 1795046400)))
    UNION ALL
    SELECT
        toString(kind) AS kind,
        key,
        toInt64(f.events) AS events,
        toInt64(f.events - f.repeats) AS sessions,
        toUInt64(0) AS engagedMs,
        toUInt64(0) AS engagements
    FROM label_facts AS f
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (f.kind IN ('error', 'click', 'custom')) AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
    UNION ALL
    SELECT
        toString(kind) AS kind,
        key,
        toInt64(0) AS events,
        toInt64(1) AS sessions,
        toUInt64(0) AS engagedMs,
        toUInt64(0) AS engagements
    FROM revisits AS v
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (v.kind IN ('page', 'error', 'click', 'custom')) AND (((v.hour >= 1794913200) AND (v.hour < 1794999600)) AND (prev_at < 1794913200000))
    UNION ALL
    SELECT
        toString(kind) AS kind,
        key,
        toInt64(0) AS events,
        toInt64(-1) AS sessions,
        toUInt64(0) AS engagedMs,
        toUInt64(0) AS engagements
    FROM revisits AS v
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (v.kind IN ('page', 'error', 'click', 'custom')) AND (((v.hour >= 1794913200) AND (v.hour < 1794999600)) AND (prev_at >= 1794910830123) AND (prev_at < 1794913200000))
    UNION ALL
    SELECT
        if((type IN ('pageview', 'engagement')), 'page', toString(type)) AS kind,
        if((type IN ('pageview', 'engagement')), path, label) AS key,
        toInt64(countIf(type != 'engagement')) AS events,
        toInt64(uniqExactIf((session, started_at, 0), (type IN ('pageview', 'error')))) AS sessions,
        sum(duration_ms) AS engagedMs,
        countIf(type = 'engagement') AS engagements
    FROM events
    WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (type IN ('pageview', 'engagement', 'error', 'click', 'custom')) AND indexHint(toStartOfHour(timestamp) IN (1794909600)) AND ((timestamp >= fromUnixTimestamp64Milli(1794910830123, 'UTC')) AND (timestamp <= fromUnixTimestamp64Milli(1794913199999, 'UTC'))) AND (toUnixTimestamp64Milli(inserted_at) <= 1795176000000)
    GROUP BY
        kind,
        key
) AS r
GROUP BY
    kind,
    name
ORDER BY
    sum0 DESC,
    pair ASC;

-- session sums
SELECT
    toString(toUInt8(0)) AS key,
    sum(s.sessions),
    sum(s.bounces),
    sum(s.duration_ms),
    sum(s.pageviews),
    sum(s.clicks),
    sum(s.with_errors),
    sum(s.sessions),
    sum(s.new_visitors)
FROM session_sums AS s
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794915000), (1, 1794916800), (1, 1794918600), (1, 1794920400), (1, 1794922200), (1, 1794924000), (1, 1794925800), (1, 1794927600), (1, 1794929400), (1, 1794931200), (1, 1794933000), (1, 1794934800), (1, 1794936600), (1, 1794938400), (1, 1794940200), (1, 1794942000), (1, 1794943800), (1, 1794945600), (1, 1794947400), (1, 1794949200), (1, 1794951000), (1, 1794952800), (1, 1794954600), (1, 1794956400), (1, 1794958200), (1, 1795132800), (1, 1795134600), (1, 1795136400), (1, 1795138200), (1, 1795140000), (1, 1795141800), (1, 1795143600), (1, 1795145400), (1, 1795147200), (1, 1795149000), (1, 1795150800), (1, 1795152600), (1, 1795154400), (1, 1795156200), (1, 1795158000), (1, 1795159800), (1, 1795161600), (1, 1795163400), (1, 1795165200), (1, 1795167000), (1, 1795168800), (1, 1795170600), (2, 1794960000), (2, 1795046400)))
GROUP BY key;

-- unsealed sessions, lists
SELECT
    sign,
    toUnixTimestamp64Milli(started_at),
    '',
    arrayMap(word -> if(length(word) = 1, concat(word, '(none)'), word), arrayFilter(word -> (word NOT IN ('j', 'k')), [concat('a', browser), concat('b', os), concat('c', device), concat('d', screen), concat('e', language), concat('f', channel), concat('g', referrer), concat('h', country), concat('i', utm_source), concat('j', entry_page), concat('k', exit_page)]))
FROM
(
    SELECT
        toInt8(1) AS sign,
        started_at,
        browser,
        os,
        device,
        screen,
        language,
        channel,
        referrer,
        country,
        utm_source,
        entry_page,
        exit_page
    FROM
    (
        SELECT
            s.started_at AS started_at,
            s.session AS session,
            s.technology.3 AS browser,
            s.technology.4 AS os,
            s.technology.5 AS device,
            s.screen.2 AS screen,
            s.language.2 AS language,
            ['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(toUInt8(s.referrer.4), toUInt8(s.utm_source.3), toUInt8(s.utm_medium.3), if(((s.utm_campaign.2) != '') OR ((s.utm_term.2) != '') OR ((s.utm_content.2) != ''), 5, 7))] AS channel,
            s.referrer.3 AS referrer,
            s.country.2 AS country,
            s.utm_source.2 AS utm_source,
            s.entry.2 AS entry_page,
            s.exit.2 AS exit_page
        FROM sessions AS s
        FINAL
        PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(10413791999999, 'UTC')))
    )
)
WHERE notEmpty(arrayMap(word -> if(length(word) = 1, concat(word, '(none)'), word), arrayFilter(word -> (word NOT IN ('j', 'k')), [concat('a', browser), concat('b', os), concat('c', device), concat('d', screen), concat('e', language), concat('f', channel), concat('g', referrer), concat('h', country), concat('i', utm_source), concat('j', entry_page), concat('k', exit_page)])))
LIMIT 20001;

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
