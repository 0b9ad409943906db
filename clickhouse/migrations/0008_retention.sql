-- Retention: how long the raw events of an app are kept. Facts and rollups stay for ever.

-- The setting of an app: the row with the highest version counts. The store's clock tells how old a setting is: the job
-- waits before it deletes anything.
CREATE TABLE IF NOT EXISTS app_retention
(
    app_id        UUID,
    days          UInt32,                            -- 0: for ever
    accepted_from Int64,                             -- earlier settings refused older sessions than this (epoch ms)
    set_at        DateTime64(3, 'UTC') DEFAULT now64(3),
    version       UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY app_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- The start of what is kept (epoch ms, a whole UTC day; 0: everything), by kind of facts. Part of the published
-- state, so it changes in one step with the watermark. It never moves back. No question, seal or repair reads raw
-- events from before it, but for the day before it, in which its sessions can have begun.
ALTER TABLE sealing_verdicts ADD COLUMN IF NOT EXISTS horizon Int64;

-- The instant (epoch ms) before which an app's raw events are deleted. Written after the deletion.
CREATE TABLE IF NOT EXISTS expired_events
(
    app_id UUID,
    until  SimpleAggregateFunction(max, Int64)
)
ENGINE = AggregatingMergeTree
ORDER BY app_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
