-- Erasing one visitor of an app: see src/erasure.

-- One row when an erasure begins, one when it has ended. While one has begun and not ended, no answer about the app is
-- cached, and nothing of the app is sealed. The rows stay, so each erasure changes the version of the app's data. Only
-- the first row names the visitor, and is deleted when the erasure has ended.
CREATE TABLE IF NOT EXISTS erasures
(
    app_id     UUID,
    erasure_id UUID,
    ended      UInt8,
    visitor_id String,
    written_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY (app_id, erasure_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

-- What an erasure deletes: its sessions, with the UTC hours of their events, and how long ago the events were inserted at
-- least. The row with the empty session says only `until`: the first one wins, as the erasure's id is its token. All rows
-- are deleted before the erasure ends, so that a process that comes late deletes nothing.
CREATE TABLE IF NOT EXISTS erased_sessions
(
    app_id     UUID,
    erasure_id UUID,
    until      Int64,                                -- by the store's clock, epoch ms, like started_at
    session_id String,
    started_at Int64,
    hours      Array(DateTime('UTC'))
)
ENGINE = MergeTree
ORDER BY (app_id, erasure_id, started_at, session_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;
