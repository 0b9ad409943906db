-- Tables for storing a batch exactly once, even if processes crash: see src/ingestion/flusher.ts.

-- Flushes, one row per session of a batch. A batch without a stored event has one row without events. A flush
-- is written here first, and its events are inserted from here, after a crash once more. The rows also claim
-- the flush's batches. They are deleted soon after the flush is settled. No clock decides: a flush is found
-- by its id.
CREATE TABLE IF NOT EXISTS ingest_journal
(
    flush_id        UUID,
    position        UInt32,
    decided         UInt8,                           -- 1: needs no verdict, as no other process can claim its batches
    app_id          UUID,
    batch_id        UUID,
    session_id      String,
    started_at      Int64,                           -- ms, like offsets
    offsets         Array(UInt32),                   -- of each event from started_at
    types           Array(UInt8),                    -- and its columns in events
    paths           Array(String),
    labels          Array(String),
    durations       Array(UInt32),
    context_at      UInt32,                          -- the event, counted from 1, that gets the columns below
    visitor_id      String,
    user_agent      LowCardinality(String),
    browser         LowCardinality(String),
    os              LowCardinality(String),
    device          LowCardinality(String),
    language        LowCardinality(String),
    screen          LowCardinality(String),
    referrer        LowCardinality(String),
    referrer_host   LowCardinality(String),
    referrer_signal UInt8,
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
    latitude        Float64,
    longitude       Float64,
    INDEX by_batch batch_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (flush_id, position)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1, min_parts_to_merge_at_once = 10;

-- One verdict per flush. The first one wins: it is inserted with the flush's id as the token, so a second one
-- is dropped. No partitions, because a token is valid within one. Deleted when the flush has left the
-- journal.
CREATE TABLE IF NOT EXISTS ingest_verdicts
(
    flush_id UUID,
    verdict  Enum8('store' = 1, 'abandon' = 2)
)
ENGINE = MergeTree
ORDER BY flush_id
SETTINGS non_replicated_deduplication_window = 100000, index_granularity = 512, fsync_after_insert = 1,
    fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Stored batches, written last, when all views hold them. A batch id is remembered for 7 days, even if the
-- store's clock is set forward by a day meanwhile. Ids are random, and most looked-up ids are new: the filter
-- tells without reading a granule.
CREATE TABLE IF NOT EXISTS ingest_batches
(
    app_id      UUID,
    batch_id    UUID,
    flush_id    UUID,
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    INDEX by_batch batch_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toDate(inserted_at)
ORDER BY (app_id, batch_id)
TTL toDateTime(inserted_at) + INTERVAL 9 DAY
SETTINGS non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1, fsync_after_insert = 1,
    fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1, min_parts_to_merge_at_once = 10;

-- Begun events: those whose insert may have started, by the ledger's apps, kinds and hours. Only used if
-- several processes are on the store. Written before the events are inserted. While it counts more than
-- `ledger`, some events may be visible in one table and not yet in another.
CREATE TABLE IF NOT EXISTS ingest_begun
(
    app_id UUID,
    kind   Enum8('event' = 1, 'session' = 2),
    hour   DateTime('UTC') CODEC(Delta, ZSTD(1)),
    events Int64 CODEC(T64, ZSTD(1))                 -- below 0 for a flush that was given up
)
ENGINE = SummingMergeTree
ORDER BY (app_id, kind, hour)
SETTINGS non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

-- Batches that the store refused one by one because of their content. None was acknowledged, and nothing of
-- them is stored. `rows` is text, so that it can also keep rows that the journal cannot read. The last row of
-- an id counts.
CREATE TABLE IF NOT EXISTS ingest_set_aside
(
    id           UUID,                               -- a hash of the two ids
    app_id       UUID,
    batch_id     UUID,
    events       UInt32,
    code         Int32,                              -- the engine's error code
    rows         String CODEC(ZSTD(1)),              -- one line each, in the form for ingest_journal
    set_aside_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Salts for the ids of visitors who send none, one per day. The first salt of a day wins, as with verdicts. A
-- salt is deleted two days after it was made, by the store's clock. The TTL is for the case that no service
-- is running then.
CREATE TABLE IF NOT EXISTS ingest_salts
(
    day        Date,
    salt       String,
    created_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY day
TTL toDateTime(created_at) + INTERVAL 2 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;
