import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { inRanges } from '../domain/address-ranges.ts';
import { batched, byKey } from '../domain/batched.ts';
import { forOthersToo } from '../domain/caller.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, type AppId, accountId, appId, isUuid } from '../domain/ids.ts';
import type { AssertHeld } from '../domain/locks.ts';
import type { AppRetention } from '../domain/retention.ts';
import { type EpochMs, epochMs, toIso } from '../domain/time.ts';
import { type Accounts, accountLock } from './accounts.ts';
import { hashCredential, isAppSecret, newAppSecret, sameHash } from './credentials.ts';
import { EXCLUSIONS } from './exclusion-rows.ts';
import { FreshCache } from './fresh-cache.ts';
import { hostOf } from './names.ts';
import { PLANS } from './plans.ts';
import { RETENTIONS, retentionColumns } from './retention-rows.ts';
import { APP_LISTS, CACHED, earlier, hasExpired, Instant, LOOK_UP, type MetadataParts } from './rows.ts';
import { SECRETS, type SecretRow, secretColumns } from './secret-rows.ts';
import type { AppSummary, CreatedApp, Plan, SdkApp } from './types.ts';

interface AppRow {
  readonly id: AppId;
  readonly account: AccountId;
  readonly domain: string;
  readonly host: string;
}

interface NewApp {
  readonly id: AppId;
  readonly account: AccountId;
  readonly name: string;
  readonly domain: string;
  readonly createdAt: EpochMs;
  /** The addresses whose events it leaves out. */
  readonly excluded?: readonly string[];
}

/** An app with the data that a request needs. */
interface CachedApp extends AppRow {
  readonly secrets: readonly SecretRow[];
  readonly retention: AppRetention | undefined;
  readonly excludes: SdkApp['excludes'];
}

const APP_COLUMNS = sql`toString(app_id) AS id, toString(account_id) AS account, domain, host`;
const AppColumns = z.object({
  id: z.string().transform(appId),
  account: z.string().transform(accountId),
  domain: z.string(),
  host: z.string(),
});

const APPS_BY_ID: Query<AppRow> = {
  name: 'apps by id',
  sql: sql`SELECT ${APP_COLUMNS} FROM apps FINAL
WHERE app_id IN {apps:Array(UUID)}
  AND app_id NOT IN (SELECT app_id FROM deleted_apps WHERE app_id IN {apps:Array(UUID)})`,
  row: AppColumns,
};

const OWNED_APPS: Query<AppRow> = {
  name: 'apps owned by account',
  sql: sql`SELECT ${APP_COLUMNS} FROM apps FINAL
WHERE account_id = {account:UUID} AND app_id NOT IN (SELECT app_id FROM deleted_apps)`,
  row: AppColumns,
};

const READABLE_APPS: Query<AppSummary> = {
  name: 'apps readable by account',
  sql: sql`SELECT toString(app_id) AS id, name, domain, if(account_id = {account:UUID}, 'owner', 'shared') AS access,
  toUnixTimestamp64Milli(created_at) AS createdAt
FROM apps FINAL
WHERE app_id NOT IN (SELECT app_id FROM deleted_apps)
  AND (account_id = {account:UUID}
    OR app_id IN (SELECT app_id FROM app_shares FINAL WHERE account_id = {account:UUID} AND active = 1))
ORDER BY created_at, name, domain, id`,
  row: z.object({
    id: z.string().transform(appId),
    name: z.string(),
    domain: z.string(),
    access: z.enum(['owner', 'shared']),
    createdAt: Instant.transform(toIso),
  }),
};

/** An app as an operator sees it among those of all accounts. */
export interface AppOfAccount {
  readonly id: AppId;
  readonly name: string;
  readonly domain: string;
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly createdAt: string;
}

const ALL_APPS: Query<AppOfAccount> = {
  name: 'apps of all accounts',
  sql: sql`SELECT toString(apps.app_id) AS id, apps.name AS name, apps.domain AS domain,
  toString(apps.account_id) AS accountId, accounts.name AS accountName,
  toUnixTimestamp64Milli(apps.created_at) AS createdAt
FROM (SELECT * FROM apps FINAL) AS apps
LEFT JOIN (SELECT * FROM accounts FINAL) AS accounts ON accounts.account_id = apps.account_id
WHERE apps.app_id NOT IN (SELECT app_id FROM deleted_apps)
ORDER BY accounts.created_at, accountId, createdAt, id`,
  row: z.object({
    id: z.string().transform(appId),
    name: z.string(),
    domain: z.string(),
    accountId: z.string().transform(accountId),
    accountName: z.string(),
    createdAt: Instant.transform(toIso),
  }),
};

/** The lock for changes of an app's secrets and shares. */
export const appLock = (id: AppId): string => `app:${id}`;

export type Apps = ReturnType<typeof appsIn>;

export function appsIn(parts: MetadataParts, accounts: Accounts) {
  const { db, changes, clock, locks, nextVersion, retentionOfPlans } = parts;
  const cache = new FreshCache<CachedApp>({
    kind: 'app',
    changes,
    max: CACHED,
    load: batched(async (ids) => {
      const [apps, secrets, retentions, exclusions] = await Promise.all([
        db.query(APPS_BY_ID, { apps: ids }, LOOK_UP),
        db.query(SECRETS, { apps: ids }, LOOK_UP),
        db.query(RETENTIONS, { apps: ids }, LOOK_UP),
        db.query(EXCLUSIONS, { apps: ids }, LOOK_UP),
      ]);
      const ofApp = (id: AppId) => secrets.filter(({ app }) => app === id);
      const retentionOf = new Map(retentions.map((own) => [own.id, own]));
      const excludesOf = new Map(
        exclusions
          .filter(({ addresses }) => addresses.length > 0)
          .map(({ id, addresses }) => [id, inRanges(addresses)]),
      );
      return byKey(
        apps.map((app) => ({
          ...app,
          secrets: ofApp(app.id),
          retention: retentionOf.get(app.id),
          excludes: excludesOf.get(app.id),
        })),
        ({ id }) => id,
      );
    }),
  });

  /** A cached list is valid while this process is the only writer and has written nothing. */
  const lists = new LRUCache<
    AccountId,
    { readonly stamp: number | null; readonly apps: Promise<AppSummary[]> }
  >({ max: CACHED });

  const get = async (id: AppId): Promise<AppRow> => {
    const [row] = await db.query(APPS_BY_ID, { apps: [id] });
    if (row === undefined) throw new AppError('not_found', `There is no app ${id}.`);
    return row;
  };

  const writeSecrets = async (id: AppId, rows: readonly SecretRow[]): Promise<void> => {
    try {
      await db.insert('app_secrets', rows.map(secretColumns));
    } finally {
      cache.invalidate(id);
    }
  };

  const newSecret = (app: AppId): { secretKey: string; row: SecretRow } => {
    const secretKey = newAppSecret();
    const hash = hashCredential(secretKey);
    return { secretKey, row: { app, hash, createdAt: clock(), expiresAt: null, version: nextVersion() } };
  };

  /** Returns the account's plan. Throws if it cannot have another app on `host`. The caller holds the account's lock. */
  const claim = async (account: AccountId, host: string): Promise<Plan> => {
    const plan = PLANS[(await accounts.get(account)).plan];
    const owned = await db.query(OWNED_APPS, { account });
    if (plan.maxApps === 0) throw new AppError('plan_blocked', `The plan ${plan.name} allows no new apps.`);
    if (owned.length >= plan.maxApps) {
      throw new AppError('plan_blocked', `The plan ${plan.name} allows ${plan.maxApps} apps.`);
    }
    if (owned.some((app) => app.host === host)) {
      throw new AppError('domain_conflict', `The account already has an app for ${host}.`);
    }
    return plan;
  };

  /**
   * Adds an app. Its secrets and its settings go in first, so that it never exists without them. `assertHeld`: of the lock
   * on the account.
   */
  const add = async (
    app: NewApp,
    secrets: readonly SecretRow[],
    retention: AppRetention | undefined,
    assertHeld: AssertHeld,
  ): Promise<void> => {
    const { id, account, name, domain, createdAt, excluded } = app;
    await writeSecrets(id, secrets);
    if (retention !== undefined) {
      await db.insert('app_retention', [retentionColumns({ ...retention, id, version: nextVersion() })]);
    }
    if (excluded !== undefined) {
      await db.insert('app_exclusions', [{ app_id: id, addresses: excluded, version: nextVersion() }]);
    }
    const row = { app_id: id, account_id: account, name, domain, host: hostOf(domain) };
    const stored = { ...row, created_at: dateTime64(createdAt), version: nextVersion() };
    await assertHeld();
    await db.insert('apps', [stored], { about: [APP_LISTS] });
    cache.invalidate(id);
  };

  return {
    get,
    claim,
    newSecret,
    add,

    /** Returns a state that is at most 4.5 s old. */
    cached: (id: AppId): Promise<CachedApp | null> => cache.get(id),
    invalidate: (id: AppId): void => cache.invalidate(id),

    /** Returns the app if this is one of its secrets now; null for wrong credentials of any kind. */
    async authenticate(id: string, secretKey: string): Promise<SdkApp | null> {
      if (!isUuid(id) || !isAppSecret(secretKey)) return null;
      const app = await cache.get(appId(id));
      if (app === null) return null;
      const hash = hashCredential(secretKey);
      const now = clock();
      const valid = app.secrets.some((one) => !hasExpired(one.expiresAt, now) && sameHash(one.hash, hash));
      return valid ? sdkApp(app) : null;
    },

    /** The apps of all accounts, by the age of their accounts. */
    all: (): Promise<AppOfAccount[]> => db.query(ALL_APPS),

    /** Reads the store: the next answer holds an app that another process has just created. */
    list(account: AccountId): Promise<AppSummary[]> {
      const stamp = db.own.stamp(APP_LISTS);
      const kept = lists.get(account);
      if (stamp !== null && kept?.stamp === stamp) return kept.apps;
      const list = { stamp, apps: forOthersToo(() => db.query(READABLE_APPS, { account })) };
      const forget = (): void => {
        if (lists.peek(account) === list) lists.delete(account);
      };
      // A failure is not cached. A list that was read during a write is not cached either.
      list.apps.then(() => {
        if (stamp === null || db.own.stamp(APP_LISTS) !== stamp) forget();
      }, forget);
      lists.set(account, list);
      return list.apps;
    },

    /** Creates an app. The store has no unique constraint, so check and insert are one step under the account's lock. */
    create(
      account: AccountId,
      { name, domain }: { readonly name: string; readonly domain: string },
    ): Promise<CreatedApp> {
      return locks.withLock(accountLock(account), async (assertHeld) => {
        const days = retentionOfPlans[(await claim(account, hostOf(domain))).name];
        const id = db.shards.newApp();
        const { secretKey, row } = newSecret(id);
        const retention = days === undefined ? undefined : { days, acceptedFrom: epochMs(0) };
        await add({ id, account, name, domain, createdAt: row.createdAt }, [row], retention, assertHeld);
        return { id, name, domain, access: 'owner', createdAt: toIso(row.createdAt), secretKey };
      });
    },

    /** Earlier secrets stay valid for `overlapMs`, or until the end that they already have. */
    rotateSecret(id: AppId, overlapMs: number): Promise<{ readonly secretKey: string }> {
      return locks.withLock(appLock(id), async (assertHeld) => {
        await get(id);
        const now = clock();
        const old = (await db.query(SECRETS, { apps: [id] })).filter(
          (one) => !hasExpired(one.expiresAt, now),
        );
        const { secretKey, row } = newSecret(id);
        const ending = old.map((one) => ({
          ...one,
          expiresAt: earlier(one.expiresAt, epochMs(now + overlapMs)),
          version: nextVersion(one.version),
        }));
        await assertHeld();
        await writeSecrets(id, [row, ...ending]);
        return { secretKey };
      });
    },
  };
}

/** The app with the data that its SDK needs. */
export const sdkApp = ({ id, domain, retention, excludes }: CachedApp): SdkApp => ({
  id,
  domain,
  ...(retention === undefined ? {} : { retention }),
  ...(excludes === undefined ? {} : { excludes }),
});
