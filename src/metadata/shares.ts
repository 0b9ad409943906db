import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { batched, byKey } from '../domain/batched.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, type AppId, accountId, appId } from '../domain/ids.ts';
import type { Accounts } from './accounts.ts';
import { type Apps, appLock } from './apps.ts';
import { FreshCache } from './fresh-cache.ts';
import { APP_LISTS, CACHED, LOOK_UP, type MetadataParts, Version } from './rows.ts';

interface ShareRow {
  readonly app: string;
  readonly account: string;
  readonly active: boolean;
  readonly version: number;
}

const SHARES: Query<ShareRow> = {
  name: 'shares of apps with accounts',
  sql: sql`SELECT toString(app_id) AS app, toString(account_id) AS account, active, version FROM app_shares FINAL
WHERE app_id IN {apps:Array(UUID)} AND account_id IN {accounts:Array(UUID)}`,
  row: z.object({
    app: z.string(),
    account: z.string(),
    active: z.int().transform(Boolean),
    version: Version,
  }),
};

/** A share as an operator sees it. */
export interface Share {
  readonly appId: AppId;
  readonly appName: string;
  readonly domain: string;
  readonly ownerId: AccountId;
  readonly ownerName: string;
  /** The account that may read the app. */
  readonly accountId: AccountId;
  readonly accountName: string;
}

/** Shares as lists select them: of one app, with one account, or all. */
export interface ShareFilter {
  readonly app?: AppId;
  readonly account?: AccountId;
}

const LISTED_SHARES: Query<Share> = {
  name: 'shares with names',
  sql: sql`SELECT toString(shares.app_id) AS appId, apps.name AS appName, apps.domain AS domain,
  toString(apps.account_id) AS ownerId, owners.name AS ownerName,
  toString(shares.account_id) AS accountId, guests.name AS accountName
FROM (SELECT * FROM app_shares FINAL WHERE active = 1) AS shares
JOIN (SELECT * FROM apps FINAL WHERE app_id NOT IN (SELECT app_id FROM deleted_apps)) AS apps
  ON apps.app_id = shares.app_id
JOIN (SELECT * FROM accounts FINAL) AS owners ON owners.account_id = apps.account_id
JOIN (SELECT * FROM accounts FINAL) AS guests ON guests.account_id = shares.account_id
WHERE guests.account_id NOT IN (SELECT account_id FROM deleted_accounts)
  AND (empty({apps:Array(UUID)}) OR has({apps:Array(UUID)}, shares.app_id))
  AND (empty({accounts:Array(UUID)}) OR has({accounts:Array(UUID)}, shares.account_id))
ORDER BY appName, appId, accountName, accountId`,
  row: z.object({
    appId: z.string().transform(appId),
    appName: z.string(),
    domain: z.string(),
    ownerId: z.string().transform(accountId),
    ownerName: z.string(),
    accountId: z.string().transform(accountId),
    accountName: z.string(),
  }),
};

export type Shares = ReturnType<typeof sharesIn>;

export function sharesIn({ db, changes, locks, nextVersion }: MetadataParts, accounts: Accounts, apps: Apps) {
  const read = (appIds: readonly string[], accountIds: readonly string[]): Promise<ShareRow[]> =>
    db.query(SHARES, { apps: appIds, accounts: accountIds }, LOOK_UP);

  const cache = new FreshCache<ShareRow>({
    kind: 'share',
    changes,
    max: CACHED,
    load: batched(async (pairs) => {
      const ids = pairs.map((pair) => pair.split(' '));
      const rows = await read(
        ids.map(([app = '']) => app),
        ids.map(([, account = '']) => account),
      );
      return byKey(
        rows.filter(({ active }) => active),
        ({ app, account }) => pairOf(app, account),
      );
    }),
  });

  const write = async (
    app: AppId,
    account: AccountId,
    active: boolean,
    before: ShareRow | undefined,
  ): Promise<void> => {
    const version = nextVersion(before?.version);
    try {
      const share = { app_id: app, account_id: account, active: Number(active), version };
      await db.insert('app_shares', [share], { about: [APP_LISTS] });
    } finally {
      cache.invalidate(pairOf(app, account));
    }
  };

  return {
    /** Returns a state that is at most 4.5 s old. */
    isShared: async (app: AppId, account: AccountId): Promise<boolean> =>
      (await cache.get(pairOf(app, account))) !== null,

    /** Sorted by the apps' names. Throws `not_found` for an unknown app or account. */
    async list({ app, account }: ShareFilter): Promise<Share[]> {
      if (app !== undefined) await apps.get(app);
      if (account !== undefined) await accounts.get(account);
      return db.query(LISTED_SHARES, {
        apps: app === undefined ? [] : [app],
        accounts: account === undefined ? [] : [account],
      });
    },

    /** Shares the app. A repetition succeeds. */
    share(app: AppId, account: AccountId): Promise<void> {
      return locks.withLock(appLock(app), async (assertHeld) => {
        const { account: owner } = await apps.get(app);
        if (owner === account) {
          throw new AppError('validation_failed', `Account ${account} owns the app: it needs no share.`);
        }
        await accounts.get(account);
        const [before] = await read([app], [account]);
        if (before?.active === true) return;
        await assertHeld();
        await write(app, account, true, before);
      });
    },

    /** Ends a share. Throws `not_found` if there is none. */
    unshare(app: AppId, account: AccountId): Promise<void> {
      return locks.withLock(appLock(app), async (assertHeld) => {
        await apps.get(app);
        const [before] = await read([app], [account]);
        if (before?.active !== true) {
          throw new AppError('not_found', `App ${app} is not shared with account ${account}.`);
        }
        await assertHeld();
        await write(app, account, false, before);
      });
    },
  };
}

const pairOf = (app: string, account: string): string => `${app} ${account}`;
