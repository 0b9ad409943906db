import type { Database } from '../clickhouse/database.ts';
import type { AccountId, AppId, KeyId } from '../domain/ids.ts';
import type { Locks } from '../domain/locks.ts';
import type { Clock, EpochMs } from '../domain/time.ts';
import { type Account, accountsIn } from './accounts.ts';
import { appsIn } from './apps.ts';
import { changesIn, type Elapsed } from './changes.ts';
import { deletionsIn } from './deletions.ts';
import { type ApiKeySummary, type CreatedKey, keysIn } from './keys.ts';
import { PLANS } from './plans.ts';
import { sharesIn } from './shares.ts';
import type { Access, AppSummary, PlanName, SdkApp } from './types.ts';
import { monotonicVersions } from './versions.ts';

export type { Account } from './accounts.ts';
export type { ApiKeySummary, CreatedKey } from './keys.ts';

/**
 * Accounts, API keys, apps and shares. An unknown id throws AppError `not_found`. A store that does not
 * answer throws `store_unavailable` or `overloaded`. A change takes effect at once in this process and within
 * 5 s in others.
 */
export interface Metadata extends Access {
  createAccount(input: { readonly name: string; readonly plan: PlanName }): Promise<Account>;
  /** Sorted by age, oldest first. */
  listAccounts(): Promise<Account[]>;
  setPlan(account: AccountId, plan: PlanName): Promise<Account>;
  /** Throws `validation_failed` for an expiry that is not in the future. */
  createKey(account: AccountId, input: { readonly expiresAt: EpochMs | null }): Promise<CreatedKey>;
  listKeys(account: AccountId): Promise<ApiKeySummary[]>;
  /**
   * The old key stays valid for `overlapMs`, never beyond its own expiry. Throws `validation_failed` if it is
   * revoked.
   */
  rotateKey(
    key: KeyId,
    input: { readonly overlapMs: number; readonly expiresAt: EpochMs | null },
  ): Promise<CreatedKey>;
  revokeKey(key: KeyId): Promise<ApiKeySummary>;
  /** Returns owned and shared apps. Throws `not_found` for an unknown account. */
  appsOfAccount(account: AccountId): Promise<AppSummary[]>;
  /** Finds an app by its id alone, for actions of the operator. */
  findApp(app: AppId): Promise<SdkApp | null>;
  rotateSecret(app: AppId, input: { readonly overlapMs: number }): Promise<{ readonly secretKey: string }>;
  shareApp(app: AppId, account: AccountId): Promise<void>;
  unshareApp(app: AppId, account: AccountId): Promise<void>;
  /** Ends the app at once. Resolves when its rows are gone from every table. Can be repeated. */
  deleteApp(app: AppId): Promise<void>;
  /**
   * Finishes interrupted deletions, and erases rows that arrived late for a deleted app. Call it after the
   * start and about once a minute. Returns how many deletions are still open.
   */
  resumeDeletions(): Promise<number>;
  /** Stops the look for changes. */
  close(): Promise<void>;
}

export interface MetadataOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly locks: Locks;
  /** Controlled time, for tests. */
  readonly elapsed?: Elapsed;
}

export function createMetadata({
  db,
  clock,
  locks,
  elapsed = () => performance.now(),
}: MetadataOptions): Metadata {
  const changes = changesIn(db, elapsed);
  const parts = { db, changes, clock, elapsed, locks, nextVersion: monotonicVersions(clock) };
  const accounts = accountsIn(parts);
  const keys = keysIn(parts, accounts);
  const apps = appsIn(parts, accounts);
  const shares = sharesIn(parts, accounts, apps);
  const deletions = deletionsIn(parts, apps);
  return {
    async authenticate(apiKey) {
      const key = await keys.authenticate(apiKey);
      const account = key && (await accounts.cached(key.account));
      return key && account && { accountId: account.id, keyId: key.id, plan: PLANS[account.plan] };
    },
    authenticateApp: apps.authenticate,
    async canRead(account, app) {
      const found = await apps.cached(app);
      if (found === null) return false;
      return found.account === account || shares.isShared(app, account);
    },
    listApps: apps.list,
    createApp: (principal, input) => apps.create(principal.accountId, input),
    createAccount: accounts.create,
    listAccounts: accounts.list,
    setPlan: accounts.setPlan,
    createKey: (account, { expiresAt }) => keys.create(account, expiresAt),
    listKeys: keys.list,
    rotateKey: (key, { overlapMs, expiresAt }) => keys.rotate(key, overlapMs, expiresAt),
    revokeKey: keys.revoke,
    async appsOfAccount(account) {
      await accounts.get(account);
      return apps.list(account);
    },
    async findApp(app) {
      const found = await apps.cached(app);
      return found && { id: found.id, domain: found.domain };
    },
    rotateSecret: (app, { overlapMs }) => apps.rotateSecret(app, overlapMs),
    shareApp: shares.share,
    unshareApp: shares.unshare,
    deleteApp: deletions.deleteApp,
    resumeDeletions: deletions.resumeDeletions,
    close: () => changes.close(),
  };
}
