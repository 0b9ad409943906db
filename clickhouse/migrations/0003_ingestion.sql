-- How a batch is stored exactly once, whoever crashes when: see src/ingestion/flusher.ts.

-- A flush is written down here before it is inserted into events, one row per session of a batch (a batch of which
-- nothing is stored has one without events): events are inserted from here, and after a crash once more. The rows also
-- claim their batches. They are deleted soon after the flush is settled. No clock has a part in it: a flush is found by its id.
CREATE TABLE IF NOT EXISTS ingest_journal
(
    flush_id        UUID,
    position        UInt32,
    decided         UInt8,                           -- 1: needs no verdict, for no other process can claim its batches
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

-- One verdict per flush, whoever speaks first: inserted with the flush's id as the token, so a second is dropped.
-- Without partitions, for a token holds within one. Deleted when the flush has left the journal.
CREATE TABLE IF NOT EXISTS ingest_verdicts
(
    flush_id UUID,
    verdict  Enum8('store' = 1, 'abandon' = 2)
)
ENGINE = MergeTree
ORDER BY flush_id
SETTINGS non_replicated_deduplication_window = 100000, index_granularity = 512, fsync_after_insert = 1,
    fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- The batches that are stored, views included: written last. A batch id is remembered for 7 days, also where the store's clock is set
-- forward by a day meanwhile.
-- Ids are random, and most that are looked up are new: the filter knows without reading a granule.
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

-- Where several processes are on the store: events whose storing has begun, by the ledger's apps, kinds and hours. Written before
-- the events are inserted. While it counts more than `ledger`, some of them may be visible in one table and not yet in another.
CREATE TABLE IF NOT EXISTS ingest_begun
(
    app_id UUID,
    kind   Enum8('event' = 1, 'session' = 2),
    hour   DateTime('UTC') CODEC(Delta, ZSTD(1)),
    events Int64 CODEC(T64, ZSTD(1))                 -- less than 0 where a flush was given up
)
ENGINE = SummingMergeTree
ORDER BY (app_id, kind, hour)
SETTINGS non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

-- Batches that the store refused for what they hold, one by one: none was acknowledged, nothing of them is stored. `rows` is text,
-- so that what the journal cannot read can be kept too. The last row of an id counts.
CREATE TABLE IF NOT EXISTS ingest_set_aside
(
    id           UUID,                               -- made from the two ids
    app_id       UUID,
    batch_id     UUID,
    events       UInt32,
    code         Int32,                              -- the engine's, for the reason
    rows         String CODEC(ZSTD(1)),              -- as they go into ingest_journal, a line for each
    set_aside_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- What visitors without an id are told apart by, for a day. The first salt of a day stands, as with verdicts. Deleted
-- two days after it was made, by the store's clock; the TTL is for a service that does not run then.
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
