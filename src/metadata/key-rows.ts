import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AccountId, accountId, type KeyId, keyId } from '../domain/ids.ts';
import { type EpochMs, toIso } from '../domain/time.ts';
import { API_KEY_START } from './credentials.ts';
import { hasExpired, Instant, instantColumn, isoOrNull, Version } from './rows.ts';

/** A key in the lists of the management API, without the key itself. */
export interface ApiKeySummary {
  readonly keyId: KeyId;
  /** Null if it was made without a name. */
  readonly name: string | null;
  /** `service_api_` and the key's next six characters; null for a key of an earlier version. */
  readonly prefix: string | null;
  readonly state: 'active' | 'expired' | 'revoked';
  readonly createdAt: string;
  /** The earlier of its own expiry and the end of a rotation's overlap. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** The minute of the last request with it; a minute late for those to other processes. */
  readonly lastUsedAt: string | null;
  /** The key that the last rotation made in its place. */
  readonly replacedBy: KeyId | null;
}

export interface KeyRow {
  readonly hash: string;
  readonly id: KeyId;
  readonly account: AccountId;
  /** Empty: none. */
  readonly name: string;
  /** The characters after `service_api_` that may be shown. Empty in rows of an earlier version. */
  readonly prefix: string;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs | null;
  readonly revokedAt: EpochMs | null;
  readonly replacedBy: KeyId | null;
  readonly version: number;
}

const COLUMNS = sql`key_hash AS hash, toString(key_id) AS id, toString(account_id) AS account, name, prefix,
  toUnixTimestamp64Milli(created_at) AS createdAt, toUnixTimestamp64Milli(expires_at) AS expiresAt,
  toUnixTimestamp64Milli(revoked_at) AS revokedAt, toString(replaced_by) AS replacedBy, version`;
const Row = z.object({
  hash: z.string(),
  id: z.string().transform(keyId),
  account: z.string().transform(accountId),
  name: z.string(),
  prefix: z.string(),
  createdAt: Instant,
  expiresAt: Instant.nullable(),
  revokedAt: Instant.nullable(),
  replacedBy: z.string().transform(keyId).nullable(),
  version: Version,
});

export const KEYS_BY_HASH: Query<KeyRow> = {
  name: 'keys by hash',
  sql: sql`SELECT ${COLUMNS} FROM api_keys FINAL WHERE key_hash IN {hashes:Array(String)}`,
  row: Row,
};

export const KEY_BY_ID: Query<KeyRow> = {
  name: 'key by id',
  sql: sql`SELECT ${COLUMNS} FROM api_keys FINAL
WHERE key_id = {key:UUID} AND account_id NOT IN (SELECT account_id FROM deleted_accounts)`,
  row: Row,
};

export const KEYS_OF_ACCOUNT: Query<KeyRow> = {
  name: 'keys of account',
  sql: sql`SELECT ${COLUMNS} FROM api_keys FINAL WHERE account_id = {account:UUID} ORDER BY created_at, id`,
  row: Row,
};

export const keyColumns = (row: KeyRow): object => ({
  key_hash: row.hash,
  key_id: row.id,
  account_id: row.account,
  name: row.name,
  prefix: row.prefix,
  created_at: dateTime64(row.createdAt),
  expires_at: instantColumn(row.expiresAt),
  revoked_at: instantColumn(row.revokedAt),
  replaced_by: row.replacedBy,
  version: row.version,
});

export function summaryOf(row: KeyRow, lastUsedAt: EpochMs | null, now: EpochMs): ApiKeySummary {
  const unrevoked = hasExpired(row.expiresAt, now) ? 'expired' : 'active';
  return {
    keyId: row.id,
    name: row.name === '' ? null : row.name,
    prefix: row.prefix === '' ? null : `${API_KEY_START}${row.prefix}`,
    state: row.revokedAt === null ? unrevoked : 'revoked',
    createdAt: toIso(row.createdAt),
    expiresAt: isoOrNull(row.expiresAt),
    revokedAt: isoOrNull(row.revokedAt),
    lastUsedAt: isoOrNull(lastUsedAt),
    replacedBy: row.replacedBy,
  };
}
