import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AccountId, type KeyId, keyId } from '../domain/ids.ts';
import { inProcessLocks } from '../domain/locks.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, toIso } from '../domain/time.ts';
import { Instant, LOOK_UP, type MetadataParts } from './rows.ts';

const HOURS = 24;

/** The requests of a key in one UTC hour. */
export interface KeyHour {
  readonly keyId: KeyId;
  /** The start of the hour. */
  readonly hour: string;
  readonly requests: number;
  /** Those of them that were refused with 429. */
  readonly limited: number;
}

interface Count {
  readonly account: AccountId;
  readonly key: KeyId;
  readonly hour: EpochMs;
  requests: number;
  limited: number;
}

interface Batch {
  readonly token: string;
  readonly counts: readonly Count[];
}

const REQUESTS: Query<Omit<Count, 'account'>> = {
  name: 'requests of keys',
  sql: sql`SELECT toString(key_id) AS key, toUnixTimestamp(r.hour) * 1000 AS hour, toInt64(sum(r.requests)) AS requests, toInt64(sum(r.limited)) AS limited
FROM api_key_requests AS r WHERE account_id = {account:UUID} AND toUnixTimestamp(r.hour) * 1000 >= {from:Int64}
GROUP BY key_id, r.hour`,
  row: z.object({
    key: z.string().transform(keyId),
    hour: Instant,
    requests: z.number(),
    limited: z.number(),
  }),
};

/**
 * How many requests each key made. A request is only counted in memory. `write` adds the counts to the store with
 * one insert for all keys; of a process that is killed, the last minute is lost.
 */
export function keyRequestsIn({ db, clock }: Pick<MetadataParts, 'db' | 'clock'>) {
  let counts = new Map<string, Count>();
  /** Batches whose insert has begun or failed. Each keeps its token, so that it is never added twice. */
  const batches: Batch[] = [];
  /** The number of writes that have begun. */
  let writes = 0;
  const turns = inProcessLocks();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns.withLock('requests', work);

  const insert = async ({ token, counts }: Batch): Promise<void> => {
    const rows = counts.map(({ account, key, hour, requests, limited }) => ({
      account_id: account,
      key_id: key,
      hour: Math.floor(hour / 1000),
      requests,
      limited,
    }));
    await db.insert('api_key_requests', rows, { ...LOOK_UP, token });
  };
  const insertAll = async (): Promise<void> => {
    for (let next = batches[0]; next !== undefined; next = batches[0]) {
      await insert(next);
      batches.shift();
    }
  };

  /** While an insert is under way, or after it has failed, nobody knows whether the store has its counts. */
  const readStored = async (account: AccountId, from: number) => {
    for (;;) {
      const before = await inTurn(async () => {
        await insertAll();
        return writes;
      });
      const stored = await db.query(REQUESTS, { account, from });
      if (before === writes) return stored;
    }
  };

  return {
    note(key: KeyId, account: AccountId, passes: boolean): void {
      const hour = epochMs(floorTo(clock(), HOUR_MS));
      const name = `${key} ${hour}`;
      let count = counts.get(name);
      if (count === undefined) {
        count = { account, key, hour, requests: 0, limited: 0 };
        counts.set(name, count);
      }
      count.requests++;
      if (!passes) count.limited++;
    },

    /** Adds the counts to the store. A batch that failed is sent again first. */
    write: (): Promise<void> =>
      inTurn(async () => {
        writes++;
        if (counts.size > 0) batches.push({ token: randomUUID(), counts: [...counts.values()] });
        counts = new Map();
        await insertAll();
      }),

    /** Returns the hours with requests of the last 24, this one included, oldest first. */
    async of(account: AccountId): Promise<KeyHour[]> {
      const from = floorTo(clock(), HOUR_MS) - (HOURS - 1) * HOUR_MS;
      const stored = await readStored(account, from);
      const own = [...counts.values()].filter((count) => count.account === account && count.hour >= from);
      const hours = new Map<string, Omit<Count, 'account'>>();
      for (const { key, hour, requests, limited } of [...stored, ...own]) {
        const name = `${hour} ${key}`;
        const sum = hours.get(name) ?? { key, hour, requests: 0, limited: 0 };
        hours.set(name, { ...sum, requests: sum.requests + requests, limited: sum.limited + limited });
      }
      return [...hours.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { key, hour, requests, limited }]) => ({
          keyId: key,
          hour: toIso(hour),
          requests,
          limited,
        }));
    },
  };
}
