-- parts of hours, campaigns
SELECT
    toString(arrayJoin(if(utm_source = '', CAST('[]', 'Array(String)'), [arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0')]))),
    count(),
    countIf(prev < greatest(toInt64(1794910830123), 1794910830123 + (intDiv(started_at - 1794910830123, 265168644) * 265168644))),
    countIf(prev = -1)
FROM utm_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794913200000))
GROUP BY arrayJoin(if(utm_source = '', CAST('[]', 'Array(String)'), [arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0')]));

-- returning, campaigns
SELECT
    arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0') AS key,
    sum(sessions) AS n
FROM utm_return_pairs
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((day >= 1794960000) AND (day < 1795132800)) AND (prev_day >= 1794960000))
GROUP BY key
UNION ALL
SELECT
    arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0') AS key,
    count() AS n
FROM utm_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((prev >= 1794913200000) AND (prev < 1794960000000)) AND (started_at < 1795172400000))
GROUP BY key
UNION ALL
SELECT
    arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0') AS key,
    count() AS n
FROM utm_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((started_at >= 1795132800000) AND (started_at < 1795172400000)) AND (prev >= 1794960000000))
GROUP BY key;

-- returns of a part, campaigns
SELECT
    arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0') AS name,
    count()
FROM utm_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((prev >= 1794910830123) AND (prev < 1794913200000)) AND ((started_at >= 1794913200000) AND (started_at < 1795172400000))
GROUP BY name;

-- unsealed sessions, campaigns
SELECT
    sign,
    toUnixTimestamp64Milli(started_at),
    base64Encode(reinterpretAsFixedString(visitor)),
    if(utm_source = '', CAST('[]', 'Array(String)'), [arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0')])
FROM
(
    SELECT
        toInt8(1) AS sign,
        started_at,
        utm_source,
        utm_medium,
        utm_campaign,
        utm_term,
        utm_content,
        visitor
    FROM
    (
        SELECT
            s.started_at AS started_at,
            s.session AS session,
            s.utm_source.2 AS utm_source,
            s.utm_medium.2 AS utm_medium,
            s.utm_campaign.2 AS utm_campaign,
            s.utm_term.2 AS utm_term,
            s.utm_content.2 AS utm_content,
            reinterpretAsUInt128(sipHash128(s.visitor.2)) AS visitor
        FROM sessions AS s
        FINAL
        PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(10413791999999, 'UTC')))
    )
)
WHERE notEmpty(if(utm_source = '', CAST('[]', 'Array(String)'), [arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0')]))
LIMIT 20001;

-- utm sums
SELECT
    arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0') AS key,
    sum(u.sessions),
    sum(u.sessions),
    sum(u.new_visitors)
FROM utm_sums AS u
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY key;

-- visits, campaigns
SELECT
    base64Encode(reinterpretAsFixedString(visitor)),
    arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\0') AS key,
    groupArray(started_at)
FROM utm_facts
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
