-- Tehran's first hour begins half an hour before 1970, where no DateTime lies: its start became one of the year 2106. Its
-- bucket begins with 1970.
ALTER TABLE traffic_from_events MODIFY QUERY
SELECT
    app_id,
    slice.1 AS grain,
    slice.2 AS bucket,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'click') AS clicks,
    countIf(type = 'error') AS errors,
    countIf(type = 'custom') AS customs,
    countIf(type = 'engagement') AS engagements,
    sumIf(toUInt64(duration_ms), type = 'engagement') AS engaged_ms
FROM events
ARRAY JOIN [
    (CAST('utc_hour', 'Enum8(\'utc_hour\' = 1, \'utc_day\' = 2, \'tehran_hour\' = 3, \'tehran_day\' = 4)'),
        toDateTime(toStartOfHour(timestamp, 'UTC'), 'UTC')),
    ('utc_day', toDateTime(toStartOfDay(timestamp, 'UTC'), 'UTC')),
    ('tehran_hour', if(toUnixTimestamp64Milli(timestamp) < 1800000, toDateTime(0, 'UTC'), toDateTime(toStartOfHour(timestamp, 'Asia/Tehran'), 'UTC'))),
    ('tehran_day', toDateTime(toStartOfDay(timestamp, 'Asia/Tehran'), 'UTC'))
] AS slice
GROUP BY app_id, grain, bucket;

ALTER TABLE session_sums_from_stage MODIFY QUERY
WITH fromUnixTimestamp64Milli(s.started_at, 'UTC') AS start
SELECT
    app_id, run,
    CAST('half_hour', 'Enum8(\'half_hour\' = 1, \'day\' = 2, \'day4\' = 3, \'day16\' = 4, \'day64\' = 5, \'day256\' = 6)') AS grain,
    toDateTime(intDiv(s.started_at, 1800000) * 1800, 'UTC') AS bucket,
    count() AS sessions,
    sum(s.bounced) AS bounces,
    sum(s.duration_ms) AS duration_ms,
    sum(s.pageviews) AS pageviews,
    sum(s.clicks) AS clicks,
    countIf(s.errors > 0) AS with_errors,
    countIf(s.prev = -1) AS new_visitors,
    countIf(s.prev < intDiv(s.started_at, 86400000) * 86400000) AS day_visitors,
    countIf(s.prev < if(s.started_at < 1800000, 0, toUnixTimestamp(toStartOfHour(start, 'Asia/Tehran')) * 1000)) AS tehran_visitors
FROM session_stage AS s
GROUP BY app_id, run, bucket;
