-- Sealed events by quarter hour, for time zones whose hours begin at UTC :15 or :45. Hours of which `traffic` has other sums
-- were sealed by an earlier version, or got late events: raw events answer for them.
CREATE TABLE IF NOT EXISTS event_quarters
(
    app_id    UUID,
    run       UInt64 CODEC(ZSTD(1)),
    bucket    DateTime('UTC') CODEC(Delta, ZSTD(1)),
    pageviews UInt64 CODEC(T64, ZSTD(1)),
    clicks    UInt64 CODEC(T64, ZSTD(1)),
    errors    UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (app_id, bucket)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
