-- Pauses of ingestion, during which a backup copies the tables. A flush that has no verdict yet waits while there is
-- one. A pause that nobody ends lapses after some seconds.
CREATE TABLE IF NOT EXISTS ingest_pauses
(
    pause_id  UUID,
    ended     UInt8,
    paused_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(ended)
ORDER BY pause_id
TTL toDateTime(paused_at) + INTERVAL 1 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Backups that were made, and those that failed.
CREATE TABLE IF NOT EXISTS backups
(
    backup_id  UUID,
    path       String,
    made_at    DateTime64(3, 'UTC'),                 -- the state that it holds
    ended_at   DateTime64(3, 'UTC') DEFAULT now64(3),
    error      String,                               -- '' if it was made
    tables     UInt32,
    rows       UInt64,
    bytes      UInt64,
    seconds    Float64,
    pause_ms   Float64                               -- how long ingestion waited
)
ENGINE = MergeTree
ORDER BY ended_at
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
