import { FACTS, FACTS_STATE } from '../clickhouse/tables.ts';

/*
 * What it means that a part of a table is lost. A table is in exactly one of these groups, or its rows are known
 * nowhere else.
 */

/** The counts and merged sessions that are computed from events. */
export const ROLL_UPS = ['sessions', 'kept_sessions', 'traffic', 'ledger', 'ingest_begun'] as const;

/** Notes that are written again when they are needed. */
export const NOTES = ['sealing_leases', 'ingest_pauses', 'schema_migrations'] as const;

/** What is lost with a part of each other table, for the operator. */
export const LOSSES: Readonly<Record<string, string>> = {
  events: 'events are gone from every figure',
  accounts: 'accounts are gone, with access to their apps',
  api_keys: 'API keys do not work any more, or revoked ones work again',
  api_key_uses: 'the last uses of API keys are unknown',
  api_key_requests: 'the usage figures of API keys are too low',
  apps: 'apps are gone, with access to their events',
  app_secrets: 'secrets of apps do not work any more, or rotated ones work again',
  app_shares: 'shares are gone, or ended ones are in force again',
  app_retention: 'retentions of apps are what they were before, or none',
  app_exclusions: 'excluded addresses of apps are what they were before, or none',
  app_links: 'links to the analytics of apps do not work any more, or revoked ones work again',
  deleted_apps: 'deleted apps may be listed again, without events',
  deleted_accounts: 'deleted accounts may be listed again',
  expired_events: 'the note of which events expired is gone',
  erasures: 'an erasure of a visitor that was underway is not finished: repeat it',
  erased_sessions: 'an erasure of a visitor that was underway is not finished: repeat it',
  console_secrets: 'everybody signs in to the console again',
  console_members: 'memberships are gone, or removed ones are in force again',
  console_links: 'links to sign in do not work any more, or used ones work again',
  console_link_uses: 'used links to sign in may work again',
  console_sessions: 'sessions of the console are gone, or ended ones go on',
  saved_segments: 'saved segments are gone, or deleted ones are there again',
  audit_log: 'entries of the audit are gone',
  ingest_journal: 'acknowledged events that were just being stored may be gone',
  ingest_verdicts: 'acknowledged events that were just being stored may be gone',
  ingest_batches: 'batches of the last nine days that are sent again count twice',
  ingest_set_aside: 'batches that were put aside are gone',
  ingest_salts: "today's visitors without an id count once more",
  backups: 'the list of backups is incomplete; the backups are not',
};

/** By how much is to be computed again. */
export type Remedy = 'none' | 'facts' | 'all' | 'accept';

/** What mends a lost part of this table. `accept`: nothing does; its rows are known nowhere else. */
export function remedyOf(table: string): Remedy {
  const has = (tables: readonly string[]): boolean => tables.includes(table);
  if (has(NOTES)) return 'none';
  if (has(FACTS)) return 'facts';
  return has(ROLL_UPS) || has(FACTS_STATE) ? 'all' : 'accept';
}

/** What is lost with a part of this table. */
export function lossOf(table: string): string {
  if (remedyOf(table) !== 'accept') return 'figures that can be computed again';
  return LOSSES[table] ?? 'its rows are gone';
}
