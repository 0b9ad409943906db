/*
 * Where a table lives on a cluster (docs/scaling.md). Tables about an app's events live on the app's shard. All
 * others are on the first shard: a statement reads them where it arrives, so no statement mixes the two.
 */

/** How far each app is sealed. Facts without it are worth nothing. */
export const FACTS_STATE = ['sealing_runs', 'sealing_verdicts'] as const;

/** Sealed facts, which are computed from events. */
export const FACTS = [
  'sealed_hours',
  'page_facts',
  'label_facts',
  'event_quarters',
  'revisits',
  'session_facts',
  'visitor_sessions',
  'session_returns',
  'return_pairs',
  'session_sums',
  'session_dimensions',
  'session_places',
  'utm_sums',
  'utm_facts',
  'utm_returns',
  'utm_return_pairs',
] as const;

/** Sharded tables that only feed views. */
export const EMPTY: ReadonlySet<string> = new Set(['page_stage', 'session_stage']);

/** Tables with the events of apps and everything that is computed from them. Each has a column app_id. */
export const SHARDED: ReadonlySet<string> = new Set([
  'events',
  'sessions',
  'kept_sessions',
  'expired_events',
  'erasures',
  'erased_sessions',
  'traffic',
  'ledger',
  'ingest_begun',
  ...FACTS_STATE,
  ...FACTS,
  ...EMPTY,
]);

/**
 * Accounts, keys, apps, shares, the console and the audit; and the notes by which processes agree: the journal, its
 * verdicts and batches, salts and leases.
 */
export const FIRST_SHARD: ReadonlySet<string> = new Set([
  'schema_migrations',
  'accounts',
  'api_keys',
  'api_key_uses',
  'api_key_requests',
  'apps',
  'app_secrets',
  'app_shares',
  'app_retention',
  'app_exclusions',
  'app_links',
  'deleted_apps',
  'deleted_accounts',
  'console_secrets',
  'console_members',
  'console_links',
  'console_link_uses',
  'console_sessions',
  'saved_segments',
  'audit_log',
  'ingest_journal',
  'ingest_verdicts',
  'ingest_batches',
  'ingest_set_aside',
  'ingest_salts',
  'ingest_pauses',
  'backups',
  'sealing_leases',
]);
