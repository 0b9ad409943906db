import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, accountId, type KeyId, keyId } from '../domain/ids.ts';
import { type EpochMs, epochMs, toIso } from '../domain/time.ts';
import type { Accounts } from './accounts.ts';
import { batched, byKey } from './batched.ts';
import { hashCredential, isApiKey, newApiKey } from './credentials.ts';
import { FreshCache } from './fresh-cache.ts';
import {
  CACHED,
  earlier,
  hasExpired,
  Instant,
  instantColumn,
  isoOrNull,
  LOOK_UP,
  type MetadataParts,
  Version,
} from './rows.ts';

/** A key in the lists of the management API, without the key itself. */
export interface ApiKeySummary {
  readonly keyId: KeyId;
  readonly state: 'active' | 'expired' | 'revoked';
  readonly createdAt: string;
  /** Its own expiry or the end of a rotation's overlap, whichever comes first. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** A new key: the only answer that shows the key itself. */
export interface CreatedKey {
  readonly keyId: KeyId;
  readonly apiKey: string;
}

export interface KeyRow {
  readonly hash: string;
  readonly id: KeyId;
  readonly account: AccountId;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs | null;
  readonly revokedAt: EpochMs | null;
  readonly version: number;
}

const COLUMNS = `key_hash AS hash, toString(key_id) AS id, toString(account_id) AS account,
  toUnixTimestamp64Milli(created_at) AS createdAt, toUnixTimestamp64Milli(expires_at) AS expiresAt,
  toUnixTimestamp64Milli(revoked_at) AS revokedAt, version`;
const Row = z.object({
  hash: z.string(),
  id: z.string().transform(keyId),
  account: z.string().transform(accountId),
  createdAt: Instant,
  expiresAt: Instant.nullable(),
  revokedAt: Instant.nullable(),
  version: Version,
});

const KEYS_BY_HASH: Query<KeyRow> = {
  name: 'keys by hash',
  sql: `SELECT ${COLUMNS} FROM api_keys FINAL WHERE key_hash IN {hashes:Array(String)}`,
  row: Row,
};

const KEY_BY_ID: Query<KeyRow> = {
  name: 'key by id',
  sql: `SELECT ${COLUMNS} FROM api_keys FINAL WHERE key_id = {key:UUID}`,
  row: Row,
};

const KEYS_OF_ACCOUNT: Query<KeyRow> = {
  name: 'keys of account',
  sql: `SELECT ${COLUMNS} FROM api_keys FINAL WHERE account_id = {account:UUID} ORDER BY created_at, id`,
  row: Row,
};

const keyLock = (id: KeyId): string => `key:${id}`;

export function keysIn({ db, changes, clock, locks, nextVersion }: MetadataParts, accounts: Accounts) {
  const cache = new FreshCache<KeyRow>({
    kind: 'key',
    changes,
    max: CACHED,
    load: batched(async (hashes) =>
      byKey(await db.query(KEYS_BY_HASH, { hashes }, LOOK_UP), ({ hash }) => hash),
    ),
  });

  const get = async (id: KeyId): Promise<KeyRow> => {
    const [row] = await db.query(KEY_BY_ID, { key: id });
    if (row === undefined) throw new AppError('not_found', `There is no API key ${id}.`);
    return row;
  };

  const write = async (...rows: readonly KeyRow[]): Promise<void> => {
    try {
      await db.insert('api_keys', rows.map(columns));
    } finally {
      for (const { hash } of rows) cache.invalidate(hash);
    }
  };

  const fresh = (account: AccountId, expiresAt: EpochMs | null): { apiKey: string; row: KeyRow } => {
    const now = clock();
    if (hasExpired(expiresAt, now)) throw expiryIsPast();
    const apiKey = newApiKey();
    const row: KeyRow = {
      hash: hashCredential(apiKey),
      id: keyId(randomUUID()),
      account,
      createdAt: now,
      expiresAt,
      revokedAt: null,
      version: nextVersion(),
    };
    return { apiKey, row };
  };

  return {
    /** Returns the key's row if it is valid now; null for a malformed, unknown, expired or revoked key. */
    async authenticate(apiKey: string): Promise<KeyRow | null> {
      if (!isApiKey(apiKey)) return null;
      const row = await cache.get(hashCredential(apiKey));
      if (row === null || row.revokedAt !== null || hasExpired(row.expiresAt, clock())) return null;
      return row;
    },

    async create(account: AccountId, expiresAt: EpochMs | null): Promise<CreatedKey> {
      await accounts.get(account);
      const { apiKey, row } = fresh(account, expiresAt);
      await write(row);
      return { keyId: row.id, apiKey };
    },

    async list(account: AccountId): Promise<ApiKeySummary[]> {
      await accounts.get(account);
      const rows = await db.query(KEYS_OF_ACCOUNT, { account });
      return rows.map((row) => summary(row, clock()));
    },

    /**
     * Replaces a key. Both keys are one insert: there are never two dead keys, nor an old one without an end.
     */
    rotate(id: KeyId, overlapMs: number, expiresAt: EpochMs | null): Promise<CreatedKey> {
      return locks.withLock(keyLock(id), async () => {
        const old = await get(id);
        if (old.revokedAt !== null) throw revoked(id);
        const { apiKey, row } = fresh(old.account, expiresAt);
        const end = earlier(old.expiresAt, epochMs(clock() + overlapMs));
        await write(row, { ...old, expiresAt: end, version: nextVersion(old.version) });
        return { keyId: row.id, apiKey };
      });
    },

    /** Revokes a key. A repetition succeeds and leaves the first time of revocation. */
    revoke(id: KeyId): Promise<ApiKeySummary> {
      return locks.withLock(keyLock(id), async () => {
        const old = await get(id);
        if (old.revokedAt !== null) return summary(old, clock());
        const row: KeyRow = { ...old, revokedAt: clock(), version: nextVersion(old.version) };
        await write(row);
        return summary(row, clock());
      });
    },
  };
}

const columns = (row: KeyRow): object => ({
  key_hash: row.hash,
  key_id: row.id,
  account_id: row.account,
  created_at: dateTime64(row.createdAt),
  expires_at: instantColumn(row.expiresAt),
  revoked_at: instantColumn(row.revokedAt),
  version: row.version,
});

function summary(row: KeyRow, now: EpochMs): ApiKeySummary {
  const unrevoked = hasExpired(row.expiresAt, now) ? 'expired' : 'active';
  return {
    keyId: row.id,
    state: row.revokedAt === null ? unrevoked : 'revoked',
    createdAt: toIso(row.createdAt),
    expiresAt: isoOrNull(row.expiresAt),
    revokedAt: isoOrNull(row.revokedAt),
  };
}

const expiryIsPast = (): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', {
    errors: [{ field: 'expiresAt', message: 'Must be in the future.' }],
  });

const revoked = (id: KeyId): AppError =>
  new AppError('validation_failed', `API key ${id} is revoked: create a new one.`);
