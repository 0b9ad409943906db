-- Addresses whose events an app leaves out.

-- The list of an app: the row with the highest version counts.
CREATE TABLE IF NOT EXISTS app_exclusions
(
    app_id    UUID,
    addresses Array(String),                         -- ranges: 192.0.2.0/24, 2001:db8::/32
    version   UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY app_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
