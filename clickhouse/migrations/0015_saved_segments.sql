-- Segments that people saved under a name in their account. The row with the highest version counts.
CREATE TABLE IF NOT EXISTS saved_segments
(
    account_id UUID,
    segment_id UUID,
    name       String,                               -- '': deleted
    segment    String,                               -- as the Public API takes it
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, segment_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
