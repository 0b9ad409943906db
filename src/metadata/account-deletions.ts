import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AccountId, type AppId, accountId, appId } from '../domain/ids.ts';
import { type Accounts, accountLock } from './accounts.ts';
import type { Deletions } from './deletions.ts';
import type { MetadataParts } from './rows.ts';

const DELETED_ACCOUNT: Query<{ id: string }> = {
  name: 'deleted account',
  sql: sql`SELECT toString(account_id) AS id FROM deleted_accounts WHERE account_id = {account:UUID}`,
  row: z.object({ id: z.string() }),
};

/** Apps whose account has ended and that have not. An app can be created while its account is being deleted. */
const APPS_LEFT: Query<{ id: AppId }> = {
  name: 'apps of deleted accounts',
  sql: sql`SELECT toString(app_id) AS id FROM apps FINAL
WHERE account_id IN (SELECT account_id FROM deleted_accounts)
  AND app_id NOT IN (SELECT app_id FROM deleted_apps)`,
  row: z.object({ id: z.string().transform(appId) }),
};

/** An app's row stays until the app itself is erased. The account's own row goes last. */
const TABLES: Query<{ table: string }> = {
  name: 'tables with data of accounts',
  sql: sql`SELECT table FROM system.columns
WHERE database = currentDatabase() AND name = 'account_id' AND table NOT IN ('deleted_accounts', 'apps')
  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
ORDER BY table = 'accounts', table`,
  row: z.object({ table: z.string() }),
};

const ACCOUNTS_LEFT: Query<{ id: AccountId }> = {
  name: 'deleted accounts in table',
  sql: sql`SELECT DISTINCT toString(account_id) AS id FROM {table:Identifier}
WHERE account_id IN (SELECT account_id FROM deleted_accounts)`,
  row: z.object({ id: z.string().transform(accountId) }),
};

export type AccountDeletions = ReturnType<typeof accountDeletionsIn>;

export function accountDeletionsIn(
  { db, clock, locks, nextVersion }: MetadataParts,
  accounts: Accounts,
  deletions: Deletions,
) {
  /** Ends the account: from this row on its keys are refused and it gets no new app. */
  const end = async (id: AccountId): Promise<void> => {
    const row = { account_id: id, deleted_at: dateTime64(clock()), version: nextVersion() };
    try {
      await db.insert('deleted_accounts', [row]);
    } finally {
      accounts.invalidate(id);
    }
  };

  const eraseRows = async (): Promise<void> => {
    for (const { table } of await db.query(TABLES)) {
      for (const { id } of await db.query(ACCOUNTS_LEFT, { table })) {
        await db.command(
          `delete from ${table}`,
          // The parts are written again, so that the rows leave the files, too.
          sql`ALTER TABLE {table:Identifier} DELETE WHERE account_id = {account:UUID} SETTINGS mutations_sync = 2`,
          { table, account: id },
          { lane: 'seal' },
        );
      }
    }
  };

  /**
   * Deletes the rest of deleted accounts: the apps they own, then their rows. It looks at the tables, not at notes
   * about earlier work. So it also finishes an interrupted deletion, and removes rows that were written later.
   */
  const sweep = async (): Promise<void> => {
    const apps = await db.query(APPS_LEFT);
    // All of them end before the first one is erased, which may take long.
    for (const { id } of apps) await deletions.endApp(id);
    if (apps.length > 0) await deletions.erase();
    await eraseRows();
  };

  return {
    sweep,

    /** Ends the account and its apps at once, then erases their data. A repeated call goes on with the rest. */
    async deleteAccount(id: AccountId): Promise<void> {
      await locks.withLock(accountLock(id), async () => {
        if ((await db.query(DELETED_ACCOUNT, { account: id })).length > 0) return;
        await accounts.get(id);
        await end(id);
      });
      await sweep();
    },
  };
}
