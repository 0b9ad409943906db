-- What an operator sees of a key: its name, the first characters after `service_api_`, and the key that a
-- rotation made in its place. Keys of earlier versions have no name and no prefix.
ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS name String;
ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS prefix String;
ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS replaced_by Nullable(UUID);

-- The minute in which a key was last accepted. Each process inserts the keys that it accepted at most once a
-- minute; the latest minute counts.
CREATE TABLE IF NOT EXISTS api_key_uses
(
    account_id UUID,
    key_id     UUID,
    used_at    SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (account_id, key_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- An account in this table does not exist, even if other tables still hold rows of it. One row ends the
-- account at once; its apps and its other rows are then erased. Rows are never deleted.
CREATE TABLE IF NOT EXISTS deleted_accounts
(
    account_id UUID,
    deleted_at DateTime64(3, 'UTC'),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
