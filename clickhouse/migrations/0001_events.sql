-- Raw events. Every other table can be rebuilt from them. An insert is on disk before it is acknowledged, and
-- a merged part before its sources are deleted (fsync): docs/ingestion.md. The wide tables merge small parts
-- only ten at a time: merging takes as long as writing. Only the earliest event of a session in each batch
-- holds the session's visitor and context (has_context = 1). The earliest of these rows counts, and the other
-- rows cost nothing.
CREATE TABLE IF NOT EXISTS events
(
    app_id          UUID,
    timestamp       DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    session_id      String CODEC(ZSTD(1)),
    started_at      DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    type            Enum8('pageview' = 1, 'click' = 2, 'error' = 3, 'engagement' = 4, 'custom' = 5),
    path            LowCardinality(String),
    label           LowCardinality(String),          -- click target, error message or custom event's name
    duration_ms     UInt32 CODEC(ZSTD(1)),           -- engagement only
    has_context     UInt8,
    visitor_id      String CODEC(ZSTD(1)),
    user_agent      LowCardinality(String),
    browser         LowCardinality(String),          -- family names, from user_agent
    os              LowCardinality(String),
    device          LowCardinality(String),
    language        LowCardinality(String),
    screen          LowCardinality(String),
    referrer        String CODEC(ZSTD(1)),
    referrer_host   LowCardinality(String),          -- '' for none and for the app's own domain
    referrer_signal UInt8,                           -- the field's channel, see src/ingestion/channels.ts
    utm_source      LowCardinality(String),
    source_signal   UInt8,
    utm_medium      LowCardinality(String),
    medium_signal   UInt8,
    utm_campaign    LowCardinality(String),
    utm_term        LowCardinality(String),
    utm_content     LowCardinality(String),
    country         LowCardinality(String),
    region          LowCardinality(String),
    city            LowCardinality(String),
    latitude        Float64 CODEC(ZSTD(1)),          -- -999: absent
    longitude       Float64 CODEC(ZSTD(1)),
    inserted_at     DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY (app_id, toStartOfHour(timestamp), session_id, started_at, timestamp)
SETTINGS non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1, min_parts_to_merge_at_once = 10,
    ratio_of_defaults_for_sparse_serialization = 0.7;

-- One logical row per session, always merged when read (GROUP BY app_id, started_at, session). A tuple's
-- first part is the event's offset from started_at in ms. So min takes the earliest event's value, and the
-- smallest value on ties; 4294967295 marks "none".
CREATE TABLE IF NOT EXISTS sessions
(
    app_id       UUID,
    started_at   DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    session      UInt64,                             -- sipHash64(session_id), beside started_at in the key
    last_offset  SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
    events       SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    pageviews    SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    clicks       SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    errors       SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    customs      SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    entry        SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    exit         SimpleAggregateFunction(max, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    visitor      SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    technology   SimpleAggregateFunction(min, Tuple(UInt32, String, String, String, String)) CODEC(ZSTD(1)), -- user agent, browser, os, device
    language     SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    screen       SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    referrer     SimpleAggregateFunction(min, Tuple(UInt32, String, String, UInt8)) CODEC(ZSTD(1)),          -- referrer, host, signal
    utm_source   SimpleAggregateFunction(min, Tuple(UInt32, String, UInt8)) CODEC(ZSTD(1)),
    utm_medium   SimpleAggregateFunction(min, Tuple(UInt32, String, UInt8)) CODEC(ZSTD(1)),
    utm_campaign SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    utm_term     SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    utm_content  SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    country      SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    region       SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    city         SimpleAggregateFunction(min, Tuple(UInt32, String)) CODEC(ZSTD(1)),
    latitude     SimpleAggregateFunction(min, Tuple(UInt32, Float64)) CODEC(ZSTD(1)),
    longitude    SimpleAggregateFunction(min, Tuple(UInt32, Float64)) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(started_at)
ORDER BY (app_id, started_at, session)
SETTINGS non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1, min_parts_to_merge_at_once = 10;

-- One row in many has a context. A conditional minimum reads only those, which makes the view a quarter
-- cheaper.
CREATE MATERIALIZED VIEW IF NOT EXISTS sessions_from_events TO sessions AS
WITH
    toUInt32(toUnixTimestamp64Milli(timestamp) - toUnixTimestamp64Milli(started_at)) AS offset,
    toUInt32(4294967295) AS none,
    countIf(has_context = 1) = 0 AS bare
SELECT
    app_id,
    started_at,
    sipHash64(session_id) AS session,
    max(offset) AS last_offset,
    count() AS events,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'click') AS clicks,
    countIf(type = 'error') AS errors,
    countIf(type = 'custom') AS customs,
    if(pageviews = 0, (none, ''), minIf((offset, toString(path)), type = 'pageview')) AS entry,
    if(pageviews = 0, (toUInt32(0), ''), maxIf((offset, toString(path)), type = 'pageview')) AS exit,
    if(bare, (none, ''), minIf((offset, visitor_id), has_context = 1)) AS visitor,
    if(bare, (none, '', '', '', ''), minIf((offset, toString(user_agent), toString(browser), toString(os), toString(device)), has_context = 1)) AS technology,
    if(bare, (none, ''), minIf((offset, toString(language)), has_context = 1)) AS language,
    if(bare, (none, ''), minIf((offset, toString(screen)), has_context = 1)) AS screen,
    if(bare, (none, '', '', toUInt8(0)), minIf((offset, referrer, toString(referrer_host), referrer_signal), has_context = 1)) AS referrer,
    if(bare, (none, '', toUInt8(0)), minIf((offset, toString(utm_source), source_signal), has_context = 1)) AS utm_source,
    if(bare, (none, '', toUInt8(0)), minIf((offset, toString(utm_medium), medium_signal), has_context = 1)) AS utm_medium,
    if(bare, (none, ''), minIf((offset, toString(utm_campaign)), has_context = 1)) AS utm_campaign,
    if(bare, (none, ''), minIf((offset, toString(utm_term)), has_context = 1)) AS utm_term,
    if(bare, (none, ''), minIf((offset, toString(utm_content)), has_context = 1)) AS utm_content,
    if(bare, (none, ''), minIf((offset, toString(country)), has_context = 1)) AS country,
    if(bare, (none, ''), minIf((offset, toString(region)), has_context = 1)) AS region,
    if(bare, (none, ''), minIf((offset, toString(city)), has_context = 1)) AS city,
    if(bare, (none, toFloat64(0)), minIf((offset, latitude), has_context = 1)) AS latitude,
    if(bare, (none, toFloat64(0)), minIf((offset, longitude), has_context = 1)) AS longitude
FROM events
GROUP BY app_id, started_at, session;

-- The start (epoch ms) from which `sessions` holds all of an app's sessions; without a row, it holds all.
-- Earlier sessions were sealed and deleted. Rows of them that arrive late hold only a part of their events.
CREATE TABLE IF NOT EXISTS kept_sessions
(
    app_id    UUID,
    kept_from SimpleAggregateFunction(max, Int64)
)
ENGINE = AggregatingMergeTree
ORDER BY app_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Event counts per UTC hour and day and per Tehran hour and day. A bucket is the instant at which it starts.
-- Tehran's hours start at UTC :30, and its days shifted with daylight saving until 2022. The named time zone
-- handles both.
CREATE TABLE IF NOT EXISTS traffic
(
    app_id      UUID,
    grain       Enum8('utc_hour' = 1, 'utc_day' = 2, 'tehran_hour' = 3, 'tehran_day' = 4),
    bucket      DateTime('UTC') CODEC(Delta, ZSTD(1)),
    pageviews   UInt64 CODEC(T64, ZSTD(1)),
    clicks      UInt64 CODEC(T64, ZSTD(1)),
    errors      UInt64 CODEC(T64, ZSTD(1)),
    customs     UInt64 CODEC(T64, ZSTD(1)),
    engagements UInt64 CODEC(T64, ZSTD(1)),
    engaged_ms  UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
ORDER BY (app_id, grain, bucket)
SETTINGS non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS traffic_from_events TO traffic AS
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
    ('tehran_hour', toDateTime(toStartOfHour(timestamp, 'Asia/Tehran'), 'UTC')),
    ('tehran_day', toDateTime(toStartOfDay(timestamp, 'Asia/Tehran'), 'UTC'))
] AS slice
GROUP BY app_id, grain, bucket;

-- Committed events per app and UTC hour, with the last insert and the range of times. Counted by the events'
-- own hour ('event') and by the hour in which their sessions started ('session'). No view fills this table: a
-- flush is counted when all of its rows are visible in `events` and in every table that views fill.
CREATE TABLE IF NOT EXISTS ledger
(
    app_id      UUID,
    kind        Enum8('event' = 1, 'session' = 2),
    hour        DateTime('UTC') CODEC(Delta, ZSTD(1)),
    events      SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    last_insert SimpleAggregateFunction(max, DateTime64(3, 'UTC')) DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    oldest      SimpleAggregateFunction(min, DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1)),
    newest      SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1)),
    last_event  SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1)) -- of the hour's sessions
)
ENGINE = AggregatingMergeTree
ORDER BY (app_id, kind, hour)
SETTINGS non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;
