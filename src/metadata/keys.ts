import { randomUUID } from 'node:crypto';
import { batched, byKey } from '../domain/batched.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, type KeyId, keyId } from '../domain/ids.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';
import type { Accounts } from './accounts.ts';
import { hashCredential, isApiKey, newApiKey, shownPart } from './credentials.ts';
import { FreshCache } from './fresh-cache.ts';
import {
  type ApiKeySummary,
  KEY_BY_ID,
  KEYS_BY_HASH,
  KEYS_OF_ACCOUNT,
  type KeyRow,
  keyColumns,
  summaryOf,
} from './key-rows.ts';
import type { KeyUses } from './key-uses.ts';
import { CACHED, earlier, hasExpired, LOOK_UP, type MetadataParts } from './rows.ts';

/** A new key: the only answer that shows the key itself. */
export interface CreatedKey {
  readonly keyId: KeyId;
  readonly apiKey: string;
}

/** Changes of an account's keys take turns, so that their number stays within the limit. */
const keysLock = (account: AccountId): string => `keys:${account}`;

/** Of an account at once. Each has a rate window of its own. */
const MOST_VALID_KEYS = 100;

export type Keys = ReturnType<typeof keysIn>;

export function keysIn(
  { db, changes, clock, locks, nextVersion }: MetadataParts,
  accounts: Accounts,
  uses: KeyUses,
) {
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
      await db.insert('api_keys', rows.map(keyColumns));
    } finally {
      for (const { hash } of rows) cache.invalidate(hash);
    }
  };

  const assertRoom = async (account: AccountId): Promise<void> => {
    const rows = await db.query(KEYS_OF_ACCOUNT, { account });
    const valid = rows.filter((row) => row.revokedAt === null && !hasExpired(row.expiresAt, clock()));
    if (valid.length >= MOST_VALID_KEYS) throw tooManyKeys();
  };

  const fresh = (
    account: AccountId,
    name: string,
    expiresAt: EpochMs | null,
  ): { apiKey: string; row: KeyRow } => {
    const now = clock();
    if (hasExpired(expiresAt, now)) throw expiryIsPast();
    const apiKey = newApiKey();
    const row: KeyRow = {
      hash: hashCredential(apiKey),
      id: keyId(randomUUID()),
      account,
      name,
      prefix: shownPart(apiKey),
      createdAt: now,
      expiresAt,
      revokedAt: null,
      replacedBy: null,
      version: nextVersion(),
    };
    return { apiKey, row };
  };

  return {
    /** Reads the store. Throws `not_found`. */
    get,

    /** Returns the key's row if it is valid now; null for a malformed, unknown, expired or revoked key. */
    async authenticate(apiKey: string): Promise<KeyRow | null> {
      if (!isApiKey(apiKey)) return null;
      const row = await cache.get(hashCredential(apiKey));
      if (row === null || row.revokedAt !== null || hasExpired(row.expiresAt, clock())) return null;
      return row;
    },

    /** Throws `plan_blocked` if the account has too many valid keys. */
    create(account: AccountId, name: string, expiresAt: EpochMs | null): Promise<CreatedKey> {
      return locks.withLock(keysLock(account), async (assertHeld) => {
        await accounts.get(account);
        const { apiKey, row } = fresh(account, name, expiresAt);
        await assertRoom(account);
        await assertHeld();
        await write(row);
        return { keyId: row.id, apiKey };
      });
    },

    async list(account: AccountId): Promise<ApiKeySummary[]> {
      await accounts.get(account);
      const [rows, usedAt] = await Promise.all([db.query(KEYS_OF_ACCOUNT, { account }), uses.of(account)]);
      return rows.map((row) => summaryOf(row, usedAt.get(row.id) ?? null, clock()));
    },

    /**
     * Replaces a key with one of the same name. Both keys are one insert: there are never two dead keys, nor
     * an old one without an end. Throws `plan_blocked` if the account has too many valid keys.
     */
    async rotate(id: KeyId, overlapMs: number, expiresAt: EpochMs | null): Promise<CreatedKey> {
      const { account } = await get(id);
      return locks.withLock(keysLock(account), async (assertHeld) => {
        const old = await get(id);
        if (old.revokedAt !== null) throw revoked(id);
        const { apiKey, row } = fresh(account, old.name, expiresAt);
        if (overlapMs > 0) await assertRoom(account);
        const end = earlier(old.expiresAt, epochMs(clock() + overlapMs));
        await assertHeld();
        const version = nextVersion(old.version);
        await write(row, { ...old, expiresAt: end, replacedBy: row.id, version });
        return { keyId: row.id, apiKey };
      });
    },

    /** Revokes a key. A repetition succeeds and leaves the first time of revocation. */
    async revoke(id: KeyId): Promise<ApiKeySummary> {
      const { account } = await get(id);
      return locks.withLock(keysLock(account), async () => {
        const old = await get(id);
        const row =
          old.revokedAt === null ? { ...old, revokedAt: clock(), version: nextVersion(old.version) } : old;
        if (row !== old) await write(row);
        const usedAt = await uses.of(account);
        return summaryOf(row, usedAt.get(row.id) ?? null, clock());
      });
    },
  };
}

const expiryIsPast = (): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', {
    errors: [{ field: 'expiresAt', message: 'Must be in the future.' }],
  });

const tooManyKeys = (): AppError =>
  new AppError(
    'plan_blocked',
    `An account may have ${MOST_VALID_KEYS} valid API keys at once: revoke one that is no longer used.`,
  );

const revoked = (id: KeyId): AppError =>
  new AppError('validation_failed', `API key ${id} is revoked: create a new one.`);
