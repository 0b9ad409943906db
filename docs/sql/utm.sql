-- utm edges
SELECT
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content,
    count() AS sessions,
    countIf(NOT false) AS visitors
FROM utm_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1794913200000))
GROUP BY
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content;

-- utm returning
SELECT
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content,
    toInt64(0),
    -toInt64(count())
FROM utm_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((started_at >= 1795132800000) AND (started_at < 1795172400000)) AND (prev >= 1794960000000))
GROUP BY
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content;

-- utm returning
SELECT
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content,
    toInt64(0),
    -toInt64(count())
FROM utm_returns
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((((prev >= 1794913200000) AND (prev < 1794960000000)) AND (started_at < 1795172400000)) OR (((prev >= 1794910830123) AND (prev < 1794913200000)) AND (started_at < 1795172400000)))
GROUP BY
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content;

-- utm returning
SELECT
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content,
    toInt64(0),
    -toInt64(sum(sessions))
FROM utm_return_pairs
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND (((day >= 1794960000) AND (day < 1795132800)) AND (prev_day >= 1794960000))
GROUP BY
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content;

-- utm sums
SELECT
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content,
    sum(u.sessions) AS sessions,
    sessions AS visitors
FROM utm_sums AS u
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((grain, bucket) IN ((1, 1794913200), (1, 1794916800), (1, 1794920400), (1, 1794924000), (1, 1794927600), (1, 1794931200), (1, 1794934800), (1, 1794938400), (1, 1794942000), (1, 1794945600), (1, 1794949200), (1, 1794952800), (1, 1794956400), (1, 1795132800), (1, 1795136400), (1, 1795140000), (1, 1795143600), (1, 1795147200), (1, 1795150800), (1, 1795154400), (1, 1795158000), (1, 1795161600), (1, 1795165200), (1, 1795168800), (2, 1794960000), (2, 1795046400)))
GROUP BY
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content;

-- utm tail
SELECT
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content,
    count() AS sessions,
    uniqExact(visitor) AS visitors
FROM
(
    SELECT
        visitor,
        utm_source,
        utm_medium,
        utm_campaign,
        utm_term,
        utm_content
    FROM
    (
        SELECT
            s.started_at AS started_at,
            s.session AS session,
            splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_source.1)), s.utm_source.2, '\0', toString(s.utm_source.3))), 5))[1] AS utm_source,
            splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_medium.1)), s.utm_medium.2, '\0', toString(s.utm_medium.3))), 5))[1] AS utm_medium,
            substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_campaign.1)), s.utm_campaign.2)), 5) AS utm_campaign,
            substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_term.1)), s.utm_term.2)), 5) AS utm_term,
            substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_content.1)), s.utm_content.2)), 5) AS utm_content,
            reinterpretAsUInt128(sipHash128(substring(min(concat(reinterpretAsFixedString(byteSwap(s.visitor.1)), s.visitor.2)), 5))) AS visitor
        FROM sessions AS s
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
        GROUP BY
            s.started_at,
            s.session
    )
    WHERE utm_source != ''
)
GROUP BY
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content;

-- utm tail, known
SELECT
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content,
    toInt64(0) AS sessions,
    -toInt64(uniqExact(visitor)) AS visitors
FROM utm_facts
WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= 1794910830123) AND (started_at < 1795172400000)) AND (visitor IN (
    SELECT visitor
    FROM
    (
        SELECT
            visitor,
            utm_source,
            utm_medium,
            utm_campaign,
            utm_term,
            utm_content
        FROM
        (
            SELECT
                s.started_at AS started_at,
                s.session AS session,
                splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_source.1)), s.utm_source.2, '\0', toString(s.utm_source.3))), 5))[1] AS utm_source,
                splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_medium.1)), s.utm_medium.2, '\0', toString(s.utm_medium.3))), 5))[1] AS utm_medium,
                substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_campaign.1)), s.utm_campaign.2)), 5) AS utm_campaign,
                substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_term.1)), s.utm_term.2)), 5) AS utm_term,
                substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_content.1)), s.utm_content.2)), 5) AS utm_content,
                reinterpretAsUInt128(sipHash128(substring(min(concat(reinterpretAsFixedString(byteSwap(s.visitor.1)), s.visitor.2)), 5))) AS visitor
            FROM sessions AS s
            WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
            GROUP BY
                s.started_at,
                s.session
        )
        WHERE utm_source != ''
    )
)) AND ((visitor, utm_source, utm_medium, utm_campaign, utm_term, utm_content) IN (
    SELECT
        visitor,
        utm_source,
        utm_medium,
        utm_campaign,
        utm_term,
        utm_content
    FROM
    (
        SELECT
            s.started_at AS started_at,
            s.session AS session,
            splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_source.1)), s.utm_source.2, '\0', toString(s.utm_source.3))), 5))[1] AS utm_source,
            splitByChar('\0', substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_medium.1)), s.utm_medium.2, '\0', toString(s.utm_medium.3))), 5))[1] AS utm_medium,
            substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_campaign.1)), s.utm_campaign.2)), 5) AS utm_campaign,
            substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_term.1)), s.utm_term.2)), 5) AS utm_term,
            substring(min(concat(reinterpretAsFixedString(byteSwap(s.utm_content.1)), s.utm_content.2)), 5) AS utm_content,
            reinterpretAsUInt128(sipHash128(substring(min(concat(reinterpretAsFixedString(byteSwap(s.visitor.1)), s.visitor.2)), 5))) AS visitor
        FROM sessions AS s
        WHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (started_at <= fromUnixTimestamp64Milli(1795175998766, 'UTC')))
        GROUP BY
            s.started_at,
            s.session
    )
    WHERE utm_source != ''
))
GROUP BY
    utm_source,
    utm_medium,
    utm_campaign,
    utm_term,
    utm_content;
