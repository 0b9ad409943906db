-- locations
SELECT
    place,
    sum(p.sessions)
FROM session_places AS p
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY place;

-- parts of hours, places
SELECT
    toString(arrayJoin(if(place = '', CAST('[]', 'Array(String)'), [toString(place)]))),
    count()
FROM session_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794913200000))
GROUP BY arrayJoin(if(place = '', CAST('[]', 'Array(String)'), [toString(place)]));

-- pending sessions
SELECT
    sign,
    toUnixTimestamp64Milli(started_at),
    base64Encode(reinterpretAsFixedString(visitor)),
    ([''], CAST([toInt64(bounced), toInt64(duration_ms), toInt64(pageviews), toInt64(clicks), toInt64(errors > 0)], 'Array(Int64)')),
    (arrayMap(word -> if(length(word) = 1, concat(word, '(none)'), word), arrayFilter(word -> (word NOT IN ('j', 'k')), [concat('a', browser), concat('b', os), concat('c', device), concat('d', screen), concat('e', language), concat('f', channel), concat('g', referrer), concat('h', country), concat('i', utm_source), concat('j', entry_page), concat('k', exit_page)])), CAST('[]', 'Array(Int64)')),
    (if(place = '', CAST('[]', 'Array(String)'), [toString(place)]), CAST('[]', 'Array(Int64)')),
    (if(utm_source = '', CAST('[]', 'Array(String)'), [arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0')]), CAST('[]', 'Array(Int64)'))
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
        visitor,
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
        exit_page,
        place,
        utm_medium,
        utm_campaign,
        utm_term,
        utm_content
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
            reinterpretAsUInt128(sipHash128(s.visitor.2)) AS visitor,
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
            s.exit.2 AS exit_page,
            if(((s.latitude.2) >= -90) AND ((s.longitude.2) >= -180) AND (NOT (((s.latitude.2) = 0) AND ((s.longitude.2) = 0))), arrayStringConcat([s.country.2, s.region.2, s.city.2, toString((s.latitude.2) + 0.), toString((s.longitude.2) + 0.)], ''), '') AS place,
            s.utm_medium.2 AS utm_medium,
            s.utm_campaign.2 AS utm_campaign,
            s.utm_term.2 AS utm_term,
            s.utm_content.2 AS utm_content
        FROM sessions AS s
        FINAL
        PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(10413791999999, 'UTC')))
    )
)
LIMIT 20001;
