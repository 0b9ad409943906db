import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { batched, byKey } from '../domain/batched.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, accountId } from '../domain/ids.ts';
import { type EpochMs, toIso } from '../domain/time.ts';
import { FreshCache } from './fresh-cache.ts';
import { PLAN_NAMES } from './plans.ts';
import { CACHED, Instant, LOOK_UP, type MetadataParts, Version } from './rows.ts';
import type { PlanName } from './types.ts';

/** An account as the management API shows it. */
export interface Account {
  readonly accountId: AccountId;
  readonly name: string;
  readonly plan: PlanName;
  readonly createdAt: string;
}

export interface AccountRow {
  readonly id: AccountId;
  readonly name: string;
  readonly plan: PlanName;
  readonly createdAt: EpochMs;
  readonly version: number;
}

const COLUMNS = sql`toString(account_id) AS id, name, plan, toUnixTimestamp64Milli(created_at) AS createdAt, version`;
const Row = z.object({
  id: z.string().transform(accountId),
  name: z.string(),
  plan: z.enum(PLAN_NAMES),
  createdAt: Instant,
  version: Version,
});

const ACCOUNTS_BY_ID: Query<AccountRow> = {
  name: 'accounts by id',
  sql: sql`SELECT ${COLUMNS} FROM accounts FINAL
WHERE account_id IN {accounts:Array(UUID)}
  AND account_id NOT IN (SELECT account_id FROM deleted_accounts WHERE account_id IN {accounts:Array(UUID)})`,
  row: Row,
};

const ACCOUNTS: Query<AccountRow> = {
  name: 'accounts',
  sql: sql`SELECT ${COLUMNS} FROM accounts FINAL
WHERE account_id NOT IN (SELECT account_id FROM deleted_accounts) ORDER BY created_at, name, id`,
  row: Row,
};

/** The lock for changes of an account and of its set of apps. */
export const accountLock = (id: AccountId): string => `account:${id}`;

export type Accounts = ReturnType<typeof accountsIn>;

export function accountsIn({ db, changes, clock, locks, nextVersion }: MetadataParts) {
  const read = (ids: readonly string[]): Promise<AccountRow[]> =>
    db.query(ACCOUNTS_BY_ID, { accounts: ids }, LOOK_UP);
  const cache = new FreshCache<AccountRow>({
    kind: 'account',
    changes,
    max: CACHED,
    load: batched(async (ids) => byKey(await read(ids), ({ id }) => id)),
  });

  const write = async (row: AccountRow): Promise<void> => {
    try {
      await db.insert('accounts', [
        {
          account_id: row.id,
          name: row.name,
          plan: row.plan,
          created_at: dateTime64(row.createdAt),
          version: row.version,
        },
      ]);
    } finally {
      cache.invalidate(row.id);
    }
  };

  /** Reads the store. Throws `not_found`. */
  const get = async (id: AccountId): Promise<AccountRow> => {
    const [row] = await read([id]);
    if (row === undefined) throw new AppError('not_found', `There is no account ${id}.`);
    return row;
  };

  return {
    get,
    /** Returns a state that is at most 4.5 s old. */
    cached: (id: AccountId): Promise<AccountRow | null> => cache.get(id),
    invalidate: (id: AccountId): void => cache.invalidate(id),

    async create(input: { readonly name: string; readonly plan: PlanName }): Promise<Account> {
      const id = accountId(randomUUID());
      const row: AccountRow = { id, ...input, createdAt: clock(), version: nextVersion() };
      await write(row);
      return summary(row);
    },

    /** Oldest first. */
    async list(): Promise<Account[]> {
      return (await db.query(ACCOUNTS)).map(summary);
    },

    /** Changes the account's name, its plan, or both. */
    change(id: AccountId, changed: Partial<Pick<AccountRow, 'name' | 'plan'>>): Promise<Account> {
      return locks.withLock(accountLock(id), async (assertHeld) => {
        const before = await get(id);
        const row: AccountRow = { ...before, ...changed, version: nextVersion(before.version) };
        await assertHeld();
        await write(row);
        return summary(row);
      });
    },
  };
}

const summary = ({ id, name, plan, createdAt }: AccountRow): Account => ({
  accountId: id,
  name,
  plan,
  createdAt: toIso(createdAt),
});
