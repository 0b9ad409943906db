import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import { type EpochMs, epochMs, floorTo, MINUTE_MS } from '../domain/time.ts';
import { Instant, LOOK_UP, type MetadataParts } from './rows.ts';

interface KeyUse {
  readonly key: string;
  readonly account: AccountId;
  /** The start of the minute. */
  readonly usedAt: EpochMs;
}

const USES: Query<{ key: string; usedAt: EpochMs }> = {
  name: 'uses of keys',
  sql: sql`SELECT toString(key_id) AS key, toUnixTimestamp64Milli(max(used_at)) AS usedAt
FROM api_key_uses WHERE account_id = {account:UUID} GROUP BY key_id`,
  row: z.object({ key: z.string(), usedAt: Instant }),
};

export type KeyUses = ReturnType<typeof keyUsesIn>;

/**
 * When each key was last accepted, to the minute. A request only notes it in memory. `write` stores these notes with
 * one insert for all keys; of several processes the latest use counts.
 */
export function keyUsesIn({ db, clock }: Pick<MetadataParts, 'db' | 'clock'>) {
  /** The uses since the last write began. */
  let noted = new Map<string, KeyUse>();
  /** The uses that are being stored. */
  let writing: ReadonlyMap<string, KeyUse> = new Map();

  return {
    note(id: KeyId, account: AccountId): void {
      noted.set(id, { key: id, account, usedAt: epochMs(floorTo(clock(), MINUTE_MS)) });
    },

    /** Stores the noted uses. If the store fails they stay noted, for the next call. One call at a time. */
    async write(): Promise<void> {
      if (noted.size === 0) return;
      writing = noted;
      noted = new Map();
      const rows = [...writing.values()].map(({ key, account, usedAt }) => ({
        account_id: account,
        key_id: key,
        used_at: dateTime64(usedAt),
      }));
      try {
        await db.insert('api_key_uses', rows, LOOK_UP);
      } catch (error) {
        noted = new Map([...writing, ...noted]);
        throw error;
      } finally {
        writing = new Map();
      }
    },

    /** The last uses of an account's keys: those that are stored, and this process's own. */
    async of(account: AccountId): Promise<ReadonlyMap<string, EpochMs>> {
      const uses = new Map((await db.query(USES, { account })).map(({ key, usedAt }) => [key, usedAt]));
      for (const { key, account: owner, usedAt } of [...writing.values(), ...noted.values()]) {
        if (owner === account) uses.set(key, epochMs(Math.max(uses.get(key) ?? 0, usedAt)));
      }
      return uses;
    },
  };
}
