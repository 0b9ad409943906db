-- Links to the analytics of one app, for people without an account; and invitations of members.

-- The row with the highest version counts. The token of a link is not stored. A link ends with its app.
CREATE TABLE IF NOT EXISTS app_links
(
    link_id    UUID,
    app_id     UUID,
    token_hash String,                               -- SHA-256, hex
    name       String,
    segment    String,                               -- its sessions alone; empty: all
    origins    Array(String),                        -- the sites that may show it in a frame
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),       -- refused from this instant on
    revoked_at Nullable(DateTime64(3, 'UTC')),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY link_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- 1: an owner made the link. Nobody has proved the e-mail address then, so its session never leaves the account.
ALTER TABLE console_links ADD COLUMN IF NOT EXISTS is_invitation UInt8;
ALTER TABLE console_sessions ADD COLUMN IF NOT EXISTS is_invitation UInt8;

-- An owner can add anybody. A person begins in the account of the oldest membership, so nobody is led into another one.
ALTER TABLE console_members ADD COLUMN IF NOT EXISTS since DateTime64(3, 'UTC');

-- An invitation works for 7 days. Its use must be known for longer than the link.
ALTER TABLE console_links MODIFY TTL toDateTime(created_at) + INTERVAL 8 DAY SETTINGS materialize_ttl_after_modify = 0;
ALTER TABLE console_link_uses MODIFY TTL toDateTime(used_at) + INTERVAL 9 DAY SETTINGS materialize_ttl_after_modify = 0;
