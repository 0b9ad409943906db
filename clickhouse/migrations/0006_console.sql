-- The console: who may sign in, who is signed in, and what was done. Rows that are not needed any more are
-- dropped by the time at which the store wrote them: its clock need not be that of the processes.

-- Secrets that the service makes by itself. The first value of a name wins: it is inserted with the name as the
-- token, so a second one is dropped.
CREATE TABLE IF NOT EXISTS console_secrets
(
    name       String,
    value      String,
    created_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY name
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

-- Members of accounts, by e-mail address in lower case. The row with the highest version counts.
CREATE TABLE IF NOT EXISTS console_members
(
    email      String,
    account_id UUID,
    role       Enum8('none' = 0, 'viewer' = 1, 'owner' = 2),   -- none: no member any more
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (email, account_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- One-time links. The link itself is not stored.
CREATE TABLE IF NOT EXISTS console_links
(
    link_hash  String,                               -- SHA-256, hex
    account_id UUID,
    email      String,                               -- empty: an owner without a name
    expires_at DateTime64(3, 'UTC'),
    created_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY link_hash
TTL toDateTime(created_at) + INTERVAL 1 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- The session that a link opened. The first one wins: it is inserted with the link's hash as the token.
CREATE TABLE IF NOT EXISTS console_link_uses
(
    link_hash  String,
    session_id UUID,
    used_at    DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY link_hash
TTL toDateTime(used_at) + INTERVAL 2 DAY
SETTINGS non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

-- Sessions of people. A session without an e-mail address was opened by a link of the operator.
CREATE TABLE IF NOT EXISTS console_sessions
(
    session_id UUID,
    account_id UUID,
    email      String,
    expires_at DateTime64(3, 'UTC'),
    ended_at   Nullable(DateTime64(3, 'UTC')),
    version    UInt64,
    written_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY session_id
TTL toDateTime(written_at) + INTERVAL 2 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- What was done, by whom. A row is written before the deed, and once more with its outcome: a row that stays
-- 'begun' belongs to a process that stopped in between.
CREATE TABLE IF NOT EXISTS audit_log
(
    account_id UUID,
    at         DateTime64(3, 'UTC'),
    entry_id   UUID,
    actor      String,                               -- 'operator', 'key ID', 'sign-in link', or an e-mail address
    action     LowCardinality(String),
    subject    String,                               -- the id of the key, app or member
    details    String,                               -- JSON
    outcome    String,                               -- 'begun', 'done', or the code of an error
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, at, entry_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Requests by key and UTC hour, and how many of them were refused with 429. Each process adds its own about once
-- a minute. A repeated insert has the same token and is dropped.
CREATE TABLE IF NOT EXISTS api_key_requests
(
    account_id UUID,
    key_id     UUID,
    hour       DateTime('UTC'),
    requests   SimpleAggregateFunction(sum, UInt64),
    limited    SimpleAggregateFunction(sum, UInt64),
    written_at SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now()
)
ENGINE = AggregatingMergeTree
ORDER BY (account_id, key_id, hour)
TTL written_at + INTERVAL 8 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1;
