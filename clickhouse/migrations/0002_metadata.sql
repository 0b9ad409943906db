-- Accounts, API keys, apps and shares: small tables whose rows are replaced as a whole. The row with the
-- highest version counts (microseconds of a clock that never steps back), so they are always read with FINAL.
-- A change is on disk before it is acknowledged (fsync): a revoked key stays revoked after a power cut.
CREATE TABLE IF NOT EXISTS accounts
(
    account_id UUID,
    name       String,
    plan       LowCardinality(String),
    created_at DateTime64(3, 'UTC'),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Ordered by hash, because every request looks a key up by its hash. The key itself is not stored.
CREATE TABLE IF NOT EXISTS api_keys
(
    key_hash   String,                               -- SHA-256, hex
    key_id     UUID,
    account_id UUID,
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),       -- refused from this instant on
    revoked_at Nullable(DateTime64(3, 'UTC')),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY key_hash
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS apps
(
    app_id     UUID,
    account_id UUID,                                 -- the owner
    name       String,
    domain     String,                               -- an origin: https://example.com
    host       String,                               -- its host and port, once per account
    created_at DateTime64(3, 'UTC'),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY app_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- An app has several secrets while rotations overlap.
CREATE TABLE IF NOT EXISTS app_secrets
(
    app_id      UUID,
    secret_hash String,                              -- SHA-256, hex
    created_at  DateTime64(3, 'UTC'),
    expires_at  Nullable(DateTime64(3, 'UTC')),
    version     UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (app_id, secret_hash)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS app_shares
(
    app_id     UUID,
    account_id UUID,                                 -- may read the app
    active     UInt8,                                -- 0: unshared
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (app_id, account_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- An app in this table does not exist, even if other tables still hold rows of it. One row ends the app at
-- once; its data are then erased table by table, and again after an interruption. Rows are never deleted.
CREATE TABLE IF NOT EXISTS deleted_apps
(
    app_id     UUID,
    deleted_at DateTime64(3, 'UTC'),
    erased_at  Nullable(DateTime64(3, 'UTC')),       -- NULL: rows of it may be left
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY app_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
