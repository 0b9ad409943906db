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

-- unsealed sessions, places
SELECT
    sign,
    toUnixTimestamp64Milli(started_at),
    '',
    if(place = '', CAST('[]', 'Array(String)'), [toString(place)])
FROM
(
    SELECT
        toInt8(1) AS sign,
        started_at,
        place
    FROM
    (
        SELECT
            s.started_at AS started_at,
            s.session AS session,
            if(((s.latitude.2) >= -90) AND ((s.longitude.2) >= -180) AND (NOT (((s.latitude.2) = 0) AND ((s.longitude.2) = 0))), arrayStringConcat([s.country.2, s.region.2, s.city.2, toString((s.latitude.2) + 0.), toString((s.longitude.2) + 0.)], ''), '') AS place
        FROM sessions AS s
        FINAL
        PREWHERE (app_id = '11111111-2222-4333-8444-555555555555') AND ((s.started_at >= fromUnixTimestamp64Milli(1795172400000, 'UTC')) AND (s.started_at <= fromUnixTimestamp64Milli(10413791999999, 'UTC')))
    )
)
WHERE notEmpty(if(place = '', CAST('[]', 'Array(String)'), [toString(place)]))
LIMIT 20001;
