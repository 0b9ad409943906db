import type { Database } from '../clickhouse/database.ts';
import type { AccountId, AppId, KeyId } from '../domain/ids.ts';
import type { Locks } from '../domain/locks.ts';
import type { Clock, EpochMs } from '../domain/time.ts';
import { accountDeletionsIn } from './account-deletions.ts';
import { type Account, accountsIn } from './accounts.ts';
import { type AppOfAccount, appsIn } from './apps.ts';
import { changesIn, type Elapsed } from './changes.ts';
import { deletionsIn } from './deletions.ts';
import type { ApiKeySummary } from './key-rows.ts';
import { keyUsesIn } from './key-uses.ts';
import { type CreatedKey, keysIn } from './keys.ts';
import { PLANS } from './plans.ts';
import { type Share, type ShareFilter, sharesIn } from './shares.ts';
import type { Access, AppSummary, PlanName, SdkApp } from './types.ts';
import { monotonicVersions } from './versions.ts';

export type { Account } from './accounts.ts';
export type { AppOfAccount } from './apps.ts';
export type { ApiKeySummary } from './key-rows.ts';
export type { CreatedKey } from './keys.ts';
export type { Share } from './shares.ts';

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
  renameAccount(account: AccountId, name: string): Promise<Account>;
  /**
   * Ends the account and its apps at once. Resolves when their rows are gone from every table. Can be repeated.
   */
  deleteAccount(account: AccountId): Promise<void>;
  /** Throws `validation_failed` for an expiry that is not in the future. */
  createKey(
    account: AccountId,
    input: { readonly name?: string; readonly expiresAt: EpochMs | null },
  ): Promise<CreatedKey>;
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
  /** Returns the apps of all accounts. */
  allApps(): Promise<AppOfAccount[]>;
  /** Finds an app by its id alone, for actions of the operator. */
  findApp(app: AppId): Promise<SdkApp | null>;
  rotateSecret(app: AppId, input: { readonly overlapMs: number }): Promise<{ readonly secretKey: string }>;
  listShares(filter?: ShareFilter): Promise<Share[]>;
  shareApp(app: AppId, account: AccountId): Promise<void>;
  unshareApp(app: AppId, account: AccountId): Promise<void>;
  /** Ends the app at once. Resolves when its rows are gone from every table. Can be repeated. */
  deleteApp(app: AppId): Promise<void>;
  /**
   * Finishes interrupted deletions, and erases rows that arrived late for a deleted app or account. Call it after
   * the start and about once a minute. Returns how many apps' deletions are still open.
   */
  resumeDeletions(): Promise<number>;
  /** Stores when keys were last used. Call it once a minute and at the end, never twice at once. */
  writeKeyUses(): Promise<void>;
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
  const uses = keyUsesIn(parts);
  const keys = keysIn(parts, accounts, uses);
  const apps = appsIn(parts, accounts);
  const shares = sharesIn(parts, accounts, apps);
  const deletions = deletionsIn(parts, apps);
  const accountDeletions = accountDeletionsIn(parts, accounts, deletions);
  return {
    async authenticate(apiKey) {
      const key = await keys.authenticate(apiKey);
      const account = key && (await accounts.cached(key.account));
      if (key === null || account === null) return null;
      uses.note(key.id, account.id);
      return { accountId: account.id, keyId: key.id, plan: PLANS[account.plan] };
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
    setPlan: (account, plan) => accounts.change(account, { plan }),
    renameAccount: (account, name) => accounts.change(account, { name }),
    deleteAccount: accountDeletions.deleteAccount,
    createKey: (account, { name = '', expiresAt }) => keys.create(account, name, expiresAt),
    listKeys: keys.list,
    rotateKey: (key, { overlapMs, expiresAt }) => keys.rotate(key, overlapMs, expiresAt),
    revokeKey: keys.revoke,
    async appsOfAccount(account) {
      await accounts.get(account);
      return apps.list(account);
    },
    allApps: apps.all,
    async findApp(app) {
      const found = await apps.cached(app);
      return found && { id: found.id, domain: found.domain };
    },
    rotateSecret: (app, { overlapMs }) => apps.rotateSecret(app, overlapMs),
    listShares: (filter = {}) => shares.list(filter),
    shareApp: shares.share,
    unshareApp: shares.unshare,
    deleteApp: deletions.deleteApp,
    async resumeDeletions() {
      await accountDeletions.sweep();
      return deletions.resumeDeletions();
    },
    writeKeyUses: uses.write,
    close: () => changes.close(),
  };
}
