-- Segments: a sealed session with everything that a condition can name, and with its identity, so that its events are
-- found. The input first: from then on, an earlier version cannot seal, because it does not name the columns.
ALTER TABLE session_stage
    ADD COLUMN IF NOT EXISTS session UInt64,         -- sipHash64(session_id), as in `sessions`
    ADD COLUMN IF NOT EXISTS region  LowCardinality(String),
    ADD COLUMN IF NOT EXISTS city    LowCardinality(String);

-- Rows of earlier versions have session = 0. Their hours are sealed again: see src/facts/unseal.ts.
ALTER TABLE session_facts
    ADD COLUMN IF NOT EXISTS session      UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS visitor      UInt128 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS utm_medium   LowCardinality(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS utm_term     LowCardinality(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS utm_content  LowCardinality(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS region       LowCardinality(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS city         LowCardinality(String) CODEC(ZSTD(1));

DROP VIEW IF EXISTS session_facts_from_stage;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_facts_from_stage TO session_facts AS
SELECT
    app_id, run, started_at, session, visitor, prev, duration_ms, pageviews, clicks, errors, bounced, browser, os, device,
    screen, language, channel, referrer, entry_page, exit_page, utm_source, utm_medium, utm_campaign, utm_term, utm_content,
    country, region, city, place
FROM session_stage;
