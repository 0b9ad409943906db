-- How a batch is stored exactly once, whoever crashes when: see src/ingestion/flusher.ts.

-- A flush is written down here as it will be inserted, before it is: its row also claims its batches. Rows are
-- deleted when they and all older ones are settled.
CREATE TABLE IF NOT EXISTS ingest_journal
(
    flush_id   UUID,
    created_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    batches    Array(Tuple(UUID, UUID)) CODEC(ZSTD(1)),    -- app, batch
    payload    String CODEC(ZSTD(1))                       -- rows of events, as JSONEachRow
)
ENGINE = MergeTree
ORDER BY (created_at, flush_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- One verdict per flush, whoever speaks first: inserted with the flush's id as the token, so a second is dropped.
-- Without partitions, for a token holds within one.
CREATE TABLE IF NOT EXISTS ingest_verdicts
(
    flush_id   UUID,
    verdict    Enum8('store' = 1, 'abandon' = 2),
    decided_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY flush_id
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

-- The batches that are stored, views included: written last. A batch id is remembered for 7 days; rows go later.
-- Ids are random and looked up one by one, hence small granules.
CREATE TABLE IF NOT EXISTS ingest_batches
(
    app_id      UUID,
    batch_id    UUID,
    flush_id    UUID,
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(inserted_at)
ORDER BY (app_id, batch_id)
TTL toDateTime(inserted_at) + INTERVAL 8 DAY
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512, ttl_only_drop_parts = 1;

-- What visitors without an id are told apart by, for a day. The first salt of a day stands, as with verdicts. Deleted
-- when its day is two days old; the TTL is for a service that does not run then.
CREATE TABLE IF NOT EXISTS ingest_salts
(
    day        Date,
    salt       String,
    created_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY day
TTL day + INTERVAL 2 DAY
SETTINGS non_replicated_deduplication_window = 1000;
