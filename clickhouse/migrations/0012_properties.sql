-- Properties of custom events. Each text is a JSON object of texts with sorted keys, so equal properties are equal texts; ''
-- for none. Nearly all events have none: a sparse text then takes 0.001 bytes per event, a Map 0.006.
ALTER TABLE events ADD COLUMN IF NOT EXISTS properties String CODEC(ZSTD(1));

-- One text per event of the row, or none at all if no event has properties.
ALTER TABLE ingest_journal ADD COLUMN IF NOT EXISTS properties Array(String);
