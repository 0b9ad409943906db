-- Sealed facts: exact answers that are computed once, when their hours are over. All of them can be dropped
-- and built again from events.
--
-- A distinct count is stored as a sum. Each occurrence knows when its key occurred last (prev). The distinct
-- keys in [F, T] are the occurrences in it whose prev lies before F.
--
-- Facts are synced to disk like events: after a power cut, a missing part would make answers wrong without a
-- sign. Instants in Int64 columns are epoch ms; -1 means "never before". Buckets of 4, 16, 64 and 256 days
-- are counted from 1970-01-01: any number of days is the sum of a few of them.

-- Every statement that seals belongs to a run, and every row of facts carries its run's number: see
-- src/facts/runs.ts. A run is recorded here, one row per app, before it writes any other row.
CREATE TABLE IF NOT EXISTS sealing_runs
(
    run       UInt64,
    app_id    UUID,
    kind      Enum8('page' = 1, 'session' = 2),
    opened_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY run
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

-- The result of a run, one row per app. The first verdict of a run wins: it is inserted with the run as the
-- token, so a second one is dropped. 'published': the facts answer before `sealed_until` ('page': event time,
-- 'session': session start; epoch ms). The row with the highest `step` is valid. `era` is the last run after
-- which rows may be deleted, `rebuilt` the last one that deleted all facts. 'dead': rows of the run are never
-- read. 'void': it wrote none.
CREATE TABLE IF NOT EXISTS sealing_verdicts
(
    app_id       UUID,
    kind         Enum8('page' = 1, 'session' = 2),
    run          UInt64,
    verdict      Enum8('published' = 1, 'dead' = 2, 'void' = 3),
    step         UInt64,
    sealed_until Int64,
    era          UInt64,
    rebuilt      UInt64
)
ENGINE = MergeTree
ORDER BY (app_id, kind, run)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

-- The process that seals: the newest row, while it is young. Two at once are harmless; one of them works in
-- vain.
CREATE TABLE IF NOT EXISTS sealing_leases
(
    holder  UInt64,                                  -- 0: nobody
    seen_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY seen_at
TTL toDateTime(seen_at) + INTERVAL 1 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- The number of events in the facts of an hour, and when the last of them was inserted, at the latest (epoch ms).
-- Where the ledger counts more events, the facts do not hold those that were inserted later: as long as the other
-- events are just as many as the facts hold.
CREATE TABLE IF NOT EXISTS sealed_hours
(
    app_id UUID,
    run       UInt64 CODEC(ZSTD(1)),
    kind   Enum8('page' = 1, 'session' = 2),
    hour   DateTime('UTC') CODEC(Delta, ZSTD(1)),
    events UInt64 CODEC(T64, ZSTD(1)),
    inserted_until SimpleAggregateFunction(max, Int64) CODEC(Delta, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, kind, hour)
ORDER BY (app_id, kind, hour, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Pages by path, with their engagement. repeats: pageviews minus the sessions that had not seen the path
-- before the hour. The hours of a path are stored together within a day: a list of paths is long, and equal
-- neighbours compress well.
CREATE TABLE IF NOT EXISTS page_facts
(
    app_id         UUID CODEC(ZSTD(1)),
    run       UInt64 CODEC(ZSTD(1)),
    grain          Enum8('hour' = 1, 'day' = 2, 'day4' = 3, 'day16' = 4, 'day64' = 5, 'day256' = 6) CODEC(ZSTD(1)),
    bucket         DateTime('UTC') CODEC(GCD, T64, ZSTD(1)),
    key            String CODEC(ZSTD(12)),
    events         UInt64 CODEC(T64, ZSTD(1)),
    repeats        UInt64 CODEC(T64, ZSTD(1)),
    engaged_ms     UInt64 CODEC(T64, ZSTD(1)),
    engagements    UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, grain, toStartOfDay(bucket), key, bucket)
ORDER BY (app_id, grain, toStartOfDay(bucket), key, bucket, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Other events by their label: an error's message, a click's target, a custom event's name. repeats: for
-- errors, counted as for pages.
CREATE TABLE IF NOT EXISTS label_facts
(
    app_id         UUID,
    run       UInt64 CODEC(ZSTD(1)),
    kind           Enum8('error' = 2, 'click' = 3, 'custom' = 4),
    grain          Enum8('hour' = 1, 'day' = 2, 'day4' = 3, 'day16' = 4, 'day64' = 5, 'day256' = 6),
    bucket         DateTime('UTC') CODEC(Delta, ZSTD(1)),
    key            String CODEC(ZSTD(3)),
    events         UInt64 CODEC(T64, ZSTD(1)),
    repeats        UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, kind, grain, bucket, key)
ORDER BY (app_id, kind, grain, bucket, key, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- The few (session, key) pairs of an hour that occurred before it: the last time before and the first time in
-- the hour, in ms from its start.
CREATE TABLE IF NOT EXISTS revisits
(
    app_id    UUID,
    run       UInt64 CODEC(ZSTD(1)),
    kind      Enum8('page' = 1, 'error' = 2),
    hour      DateTime('UTC') CODEC(Delta, ZSTD(1)),
    key       String CODEC(ZSTD(3)),
    before_ms UInt32 CODEC(T64, ZSTD(1)),
    after_ms  UInt32 CODEC(T64, ZSTD(1)),
    prev_at   Int64 ALIAS toInt64(toUnixTimestamp(hour)) * 1000 - before_ms,
    first_at  Int64 ALIAS toInt64(toUnixTimestamp(hour)) * 1000 + after_ms
)
ENGINE = MergeTree
ORDER BY (app_id, kind, hour, key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Input of a sealing run from events: one row per hour, key and session. Only its views store anything.
CREATE TABLE IF NOT EXISTS page_stage
(
    app_id      UUID,
    run        UInt64,
    kind        Enum8('page' = 1, 'error' = 2, 'click' = 3, 'custom' = 4),
    hour        DateTime('UTC'),
    key         String,
    all_events  UInt64,
    events      UInt64,
    engaged_ms  UInt64,
    engagements UInt64,
    prev_at     Int64,
    first_at    Int64,
    inserted_until Int64
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS page_facts_from_stage TO page_facts AS
SELECT
    app_id, run,
    CAST('hour', 'Enum8(\'hour\' = 1, \'day\' = 2, \'day4\' = 3, \'day16\' = 4, \'day64\' = 5, \'day256\' = 6)') AS grain,
    hour AS bucket,
    key,
    sum(p.events) AS events,
    sum(p.events) - countIf(p.events > 0 AND p.prev_at = -1) AS repeats,
    sum(p.engaged_ms) AS engaged_ms,
    sum(p.engagements) AS engagements
FROM page_stage AS p
WHERE p.kind = 'page'
GROUP BY app_id, run, bucket, key;

CREATE MATERIALIZED VIEW IF NOT EXISTS label_facts_from_stage TO label_facts AS
SELECT
    app_id, run,
    CAST(p.kind, 'Enum8(\'error\' = 2, \'click\' = 3, \'custom\' = 4)') AS kind,
    CAST('hour', 'Enum8(\'hour\' = 1, \'day\' = 2, \'day4\' = 3, \'day16\' = 4, \'day64\' = 5, \'day256\' = 6)') AS grain,
    hour AS bucket,
    key,
    sum(p.events) AS events,
    if(kind = 'error', sum(p.events) - countIf(p.prev_at = -1), 0) AS repeats
FROM page_stage AS p
WHERE p.kind != 'page'
GROUP BY app_id, run, kind, bucket, key;

CREATE MATERIALIZED VIEW IF NOT EXISTS revisits_from_stage TO revisits AS
WITH toInt64(toUnixTimestamp(hour)) * 1000 AS hour_ms
SELECT
    app_id, run,
    CAST(kind, 'Enum8(\'page\' = 1, \'error\' = 2)') AS kind,
    hour,
    key,
    toUInt32(hour_ms - prev_at) AS before_ms,
    toUInt32(first_at - hour_ms) AS after_ms
FROM page_stage AS p
WHERE p.kind IN ('page', 'error') AND p.events > 0 AND p.prev_at != -1;

CREATE MATERIALIZED VIEW IF NOT EXISTS page_hours_from_stage TO sealed_hours AS
SELECT app_id, run, CAST('page', 'Enum8(\'page\' = 1, \'session\' = 2)') AS kind, hour, sum(p.all_events) AS events,
    max(p.inserted_until) AS inserted_until
FROM page_stage AS p
GROUP BY app_id, run, hour;

-- One row per session, as plain columns, with the start of the same visitor's previous session (-1: none). ''
-- is absent.
CREATE TABLE IF NOT EXISTS session_facts
(
    app_id      UUID,
    run       UInt64 CODEC(ZSTD(1)),
    started_at  Int64 CODEC(Delta, ZSTD(1)),
    prev        Int64 CODEC(ZSTD(1)),
    duration_ms UInt32 CODEC(T64('bit'), ZSTD(1)),
    pageviews   UInt32 CODEC(T64, ZSTD(1)),
    clicks      UInt32 CODEC(T64, ZSTD(1)),
    errors      UInt32 CODEC(T64, ZSTD(1)),
    bounced     UInt8 CODEC(T64, ZSTD(1)),
    browser     LowCardinality(String) CODEC(ZSTD(1)),
    os          LowCardinality(String) CODEC(ZSTD(1)),
    device      LowCardinality(String) CODEC(ZSTD(1)),
    screen      LowCardinality(String) CODEC(ZSTD(1)),
    language    LowCardinality(String) CODEC(ZSTD(1)),
    channel     LowCardinality(String) CODEC(ZSTD(1)),
    referrer    LowCardinality(String) CODEC(ZSTD(1)),
    entry_page  LowCardinality(String) CODEC(ZSTD(1)), -- '' for a session without a pageview
    exit_page   LowCardinality(String) CODEC(ZSTD(1)),
    utm_source  LowCardinality(String) CODEC(ZSTD(1)),
    country     LowCardinality(String) CODEC(ZSTD(1)),
    place       LowCardinality(String) CODEC(ZSTD(1))  -- country, region, city and coordinates, U+001F between them
)
ENGINE = MergeTree
ORDER BY (app_id, started_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- The same sessions, ordered by visitor: finds the last sessions of some visitors without reading the others.
-- Granules and blocks are small. Looking up a visitor reads one of them per 64 days, and reading the visitors
-- of a few weeks skips the other years.
CREATE TABLE IF NOT EXISTS visitor_sessions
(
    app_id     UUID,
    run       UInt64 CODEC(ZSTD(1)),
    visitor    UInt128 CODEC(ZSTD(1)),               -- sipHash128 of the visitor's id
    started_at Int64 CODEC(T64('bit'), ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (app_id, intDiv(started_at, 5529600000), visitor, started_at)
SETTINGS index_granularity = 256, min_compress_block_size = 16384, max_compress_block_size = 32768,
    fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Sessions of returning visitors, ordered by prev.
CREATE TABLE IF NOT EXISTS session_returns
(
    app_id     UUID,
    run       UInt64 CODEC(ZSTD(1)),
    prev       Int64 CODEC(Delta, ZSTD(1)),
    started_at Int64 CODEC(T64('bit'), ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (app_id, prev)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Counts of returning sessions by the pair (day, prev's day), written when the day is complete. The size is
-- days squared, regardless of the traffic.
CREATE TABLE IF NOT EXISTS return_pairs
(
    app_id   UUID,
    run       UInt64 CODEC(ZSTD(1)),
    day      DateTime('UTC') CODEC(Delta, ZSTD(1)),
    prev_day DateTime('UTC') CODEC(Delta, ZSTD(1)),
    sessions UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, day, prev_day)
ORDER BY (app_id, day, prev_day, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- All additive figures of sessions, per half hour, because Tehran's hours start at UTC :30. A visitor is
-- counted at the first session in a UTC day (day_visitors) or a Tehran hour (tehran_visitors).
CREATE TABLE IF NOT EXISTS session_sums
(
    app_id          UUID,
    run       UInt64 CODEC(ZSTD(1)),
    grain           Enum8('half_hour' = 1, 'day' = 2, 'day4' = 3, 'day16' = 4, 'day64' = 5, 'day256' = 6),
    bucket          DateTime('UTC') CODEC(Delta, ZSTD(1)),
    sessions        UInt64 CODEC(T64, ZSTD(1)),
    bounces         UInt64 CODEC(T64, ZSTD(1)),
    duration_ms     UInt64 CODEC(T64, ZSTD(1)),
    pageviews       UInt64 CODEC(T64, ZSTD(1)),
    clicks          UInt64 CODEC(T64, ZSTD(1)),
    with_errors     UInt64 CODEC(T64, ZSTD(1)),
    new_visitors    UInt64 CODEC(T64, ZSTD(1)),
    day_visitors    UInt64 CODEC(T64, ZSTD(1)),
    tehran_visitors UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, grain, bucket)
ORDER BY (app_id, grain, bucket, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Sessions by a single value: the overview's lists. The key is the list's letter and the value ('(none)' if
-- absent). The engine groups by one text faster than by two columns.
CREATE TABLE IF NOT EXISTS session_dimensions
(
    app_id    UUID,
    run       UInt64 CODEC(ZSTD(1)),
    grain     Enum8('hour' = 1, 'day' = 2, 'day4' = 3, 'day16' = 4, 'day64' = 5, 'day256' = 6),
    bucket    DateTime('UTC') CODEC(Delta, ZSTD(1)),
    key       String CODEC(ZSTD(3)),
    sessions  UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, grain, bucket, key)
ORDER BY (app_id, grain, bucket, key, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS session_places
(
    app_id    UUID,
    run       UInt64 CODEC(ZSTD(1)),
    grain     Enum8('hour' = 1, 'day' = 2, 'day4' = 3, 'day16' = 4, 'day64' = 5, 'day256' = 6),
    bucket    DateTime('UTC') CODEC(Delta, ZSTD(1)),
    place     LowCardinality(String) CODEC(ZSTD(1)),
    sessions  UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, grain, bucket, place)
ORDER BY (app_id, grain, bucket, place, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS utm_sums
(
    app_id       UUID,
    run       UInt64 CODEC(ZSTD(1)),
    grain        Enum8('hour' = 1, 'day' = 2, 'day4' = 3, 'day16' = 4, 'day64' = 5, 'day256' = 6),
    bucket       DateTime('UTC') CODEC(Delta, ZSTD(1)),
    utm_source   LowCardinality(String) CODEC(ZSTD(1)),
    utm_medium   LowCardinality(String) CODEC(ZSTD(1)),
    utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
    utm_term     LowCardinality(String) CODEC(ZSTD(1)),
    utm_content  LowCardinality(String) CODEC(ZSTD(1)),
    sessions     UInt64 CODEC(T64, ZSTD(1)),
    new_visitors UInt64 CODEC(T64, ZSTD(1))          -- sessions whose visitor never had this combination before
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, grain, bucket, utm_source, utm_medium, utm_campaign, utm_term, utm_content)
ORDER BY (app_id, grain, bucket, utm_source, utm_medium, utm_campaign, utm_term, utm_content, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- One row per session with a source. prev is the same visitor's previous session with the same combination.
CREATE TABLE IF NOT EXISTS utm_facts
(
    app_id       UUID,
    run       UInt64 CODEC(ZSTD(1)),
    started_at   Int64 CODEC(Delta, ZSTD(1)),
    prev         Int64 CODEC(ZSTD(1)),
    visitor      UInt128 CODEC(ZSTD(1)),
    utm_source   LowCardinality(String) CODEC(ZSTD(1)),
    utm_medium   LowCardinality(String) CODEC(ZSTD(1)),
    utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
    utm_term     LowCardinality(String) CODEC(ZSTD(1)),
    utm_content  LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (app_id, started_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Returning sessions ordered by prev, and below counted by (day, prev's day, combination) when the day is
-- complete.
CREATE TABLE IF NOT EXISTS utm_returns
(
    app_id       UUID,
    run       UInt64 CODEC(ZSTD(1)),
    prev         Int64 CODEC(Delta, ZSTD(1)),
    started_at   Int64 CODEC(ZSTD(1)),
    utm_source   LowCardinality(String) CODEC(ZSTD(1)),
    utm_medium   LowCardinality(String) CODEC(ZSTD(1)),
    utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
    utm_term     LowCardinality(String) CODEC(ZSTD(1)),
    utm_content  LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (app_id, prev)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS utm_return_pairs
(
    app_id       UUID,
    run       UInt64 CODEC(ZSTD(1)),
    day          DateTime('UTC') CODEC(Delta, ZSTD(1)),
    prev_day     DateTime('UTC') CODEC(Delta, ZSTD(1)),
    utm_source   LowCardinality(String) CODEC(ZSTD(1)),
    utm_medium   LowCardinality(String) CODEC(ZSTD(1)),
    utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
    utm_term     LowCardinality(String) CODEC(ZSTD(1)),
    utm_content  LowCardinality(String) CODEC(ZSTD(1)),
    sessions     UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PRIMARY KEY (app_id, day, prev_day, utm_source, utm_medium, utm_campaign, utm_term, utm_content)
ORDER BY (app_id, day, prev_day, utm_source, utm_medium, utm_campaign, utm_term, utm_content, run)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Input of a sealing run from sessions, one row each; '' is absent. Only its views store anything.
CREATE TABLE IF NOT EXISTS session_stage
(
    app_id       UUID,
    run        UInt64,
    started_at   Int64,
    visitor      UInt128,
    prev         Int64,
    utm_prev     Int64,
    events       UInt64,
    duration_ms  UInt64,
    pageviews    UInt64,
    clicks       UInt64,
    errors       UInt64,
    bounced      UInt8,
    browser      LowCardinality(String),
    os           LowCardinality(String),
    device       LowCardinality(String),
    screen       LowCardinality(String),
    language     LowCardinality(String),
    channel      LowCardinality(String),
    referrer     LowCardinality(String),
    entry_page   LowCardinality(String),             -- '' for a session without a pageview
    exit_page    LowCardinality(String),
    utm_source   LowCardinality(String),
    utm_medium   LowCardinality(String),
    utm_campaign LowCardinality(String),
    utm_term     LowCardinality(String),
    utm_content  LowCardinality(String),
    country      LowCardinality(String),
    place        LowCardinality(String),             -- '' without coordinates
    inserted_until Int64
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_facts_from_stage TO session_facts AS
SELECT
    app_id, run, started_at, prev, duration_ms, pageviews, clicks, errors, bounced, browser, os, device, screen, language,
    channel, referrer, entry_page, exit_page, utm_source, country, place
FROM session_stage;

CREATE MATERIALIZED VIEW IF NOT EXISTS visitor_sessions_from_stage TO visitor_sessions AS
SELECT app_id, run, visitor, started_at FROM session_stage;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_returns_from_stage TO session_returns AS
SELECT app_id, run, prev, started_at FROM session_stage WHERE prev != -1;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_sums_from_stage TO session_sums AS
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
    countIf(s.prev < toUnixTimestamp(toStartOfHour(start, 'Asia/Tehran')) * 1000) AS tehran_visitors
FROM session_stage AS s
GROUP BY app_id, run, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_dimensions_from_stage TO session_dimensions AS
SELECT
    app_id, run,
    CAST('hour', 'Enum8(\'hour\' = 1, \'day\' = 2, \'day4\' = 3, \'day16\' = 4, \'day64\' = 5, \'day256\' = 6)') AS grain,
    toDateTime(intDiv(started_at, 3600000) * 3600, 'UTC') AS bucket,
    concat(pair.1, if(pair.2 = '', '(none)', pair.2)) AS key,
    count() AS sessions
FROM session_stage
ARRAY JOIN [
    ('a', toString(browser)), ('b', toString(os)), ('c', toString(device)), ('d', toString(screen)), ('e', toString(language)),
    ('f', toString(channel)), ('g', toString(referrer)), ('h', toString(country)), ('i', toString(utm_source)),
    ('j', toString(entry_page)), ('k', toString(exit_page))
] AS pair
WHERE pair.2 != '' OR pair.1 NOT IN ('j', 'k')
GROUP BY app_id, run, bucket, key;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_places_from_stage TO session_places AS
SELECT
    app_id, run,
    CAST('hour', 'Enum8(\'hour\' = 1, \'day\' = 2, \'day4\' = 3, \'day16\' = 4, \'day64\' = 5, \'day256\' = 6)') AS grain,
    toDateTime(intDiv(started_at, 3600000) * 3600, 'UTC') AS bucket,
    place,
    count() AS sessions
FROM session_stage
WHERE place != ''
GROUP BY app_id, run, bucket, place;

CREATE MATERIALIZED VIEW IF NOT EXISTS utm_sums_from_stage TO utm_sums AS
SELECT
    app_id, run,
    CAST('hour', 'Enum8(\'hour\' = 1, \'day\' = 2, \'day4\' = 3, \'day16\' = 4, \'day64\' = 5, \'day256\' = 6)') AS grain,
    toDateTime(intDiv(started_at, 3600000) * 3600, 'UTC') AS bucket,
    utm_source, utm_medium, utm_campaign, utm_term, utm_content,
    count() AS sessions,
    countIf(utm_prev = -1) AS new_visitors
FROM session_stage
WHERE utm_source != ''
GROUP BY app_id, run, bucket, utm_source, utm_medium, utm_campaign, utm_term, utm_content;

CREATE MATERIALIZED VIEW IF NOT EXISTS utm_facts_from_stage TO utm_facts AS
SELECT app_id, run, started_at, utm_prev AS prev, visitor, utm_source, utm_medium, utm_campaign, utm_term, utm_content
FROM session_stage
WHERE utm_source != '';

CREATE MATERIALIZED VIEW IF NOT EXISTS utm_returns_from_stage TO utm_returns AS
SELECT app_id, run, utm_prev AS prev, started_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content
FROM session_stage
WHERE utm_source != '' AND utm_prev != -1;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_hours_from_stage TO sealed_hours AS
SELECT
    app_id, run,
    CAST('session', 'Enum8(\'page\' = 1, \'session\' = 2)') AS kind,
    toDateTime(intDiv(started_at, 3600000) * 3600, 'UTC') AS hour,
    sum(s.events) AS events,
    max(s.inserted_until) AS inserted_until
FROM session_stage AS s
GROUP BY app_id, run, hour;
