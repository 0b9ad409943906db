import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { AppError } from '../domain/errors.ts';
import type { AccountId, AppId } from '../domain/ids.ts';
import type { Accounts } from './accounts.ts';
import { type Apps, appLock } from './apps.ts';
import { FreshCache } from './fresh-cache.ts';
import { CACHED, LOOK_UP, type MetadataParts, Version } from './rows.ts';

interface ShareRow {
  readonly active: boolean;
  readonly version: number;
}

const SHARE: Query<ShareRow> = {
  name: 'share',
  sql: `SELECT active, version FROM app_shares FINAL WHERE app_id = {app:UUID} AND account_id = {account:UUID}`,
  row: z.object({ active: z.int().transform(Boolean), version: Version }),
};

export function sharesIn({ db, clock, locks, nextVersion }: MetadataParts, accounts: Accounts, apps: Apps) {
  const read = async (app: AppId | string, account: AccountId | string): Promise<ShareRow | null> =>
    (await db.query(SHARE, { app, account }, LOOK_UP))[0] ?? null;

  const cache = new FreshCache<ShareRow>({
    clock,
    max: CACHED,
    load: async (pair) => {
      const [app = '', account = ''] = pair.split(' ');
      const row = await read(app, account);
      return row?.active === true ? row : null;
    },
  });

  const write = async (
    app: AppId,
    account: AccountId,
    active: boolean,
    before: ShareRow | null,
  ): Promise<void> => {
    const version = nextVersion(before?.version);
    try {
      await db.insert('app_shares', [{ app_id: app, account_id: account, active: Number(active), version }]);
    } finally {
      cache.invalidate(pairOf(app, account));
    }
  };

  return {
    /** At most 4.5 s old. */
    isShared: async (app: AppId, account: AccountId): Promise<boolean> =>
      (await cache.get(pairOf(app, account))) !== null,

    /** Again is no error. */
    share(app: AppId, account: AccountId): Promise<void> {
      return locks.withLock(appLock(app), async () => {
        const { account: owner } = await apps.get(app);
        if (owner === account) {
          throw new AppError('validation_failed', `Account ${account} owns the app: it needs no share.`);
        }
        await accounts.get(account);
        const before = await read(app, account);
        if (before?.active !== true) await write(app, account, true, before);
      });
    },

    /** Throws `not_found` where there is nothing to end. */
    unshare(app: AppId, account: AccountId): Promise<void> {
      return locks.withLock(appLock(app), async () => {
        await apps.get(app);
        const before = await read(app, account);
        if (before?.active !== true) {
          throw new AppError('not_found', `App ${app} is not shared with account ${account}.`);
        }
        await write(app, account, false, before);
      });
    },
  };
}

const pairOf = (app: AppId, account: AccountId): string => `${app} ${account}`;
