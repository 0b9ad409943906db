import type { Database } from '../clickhouse/database.ts';
import type { AccountId, AppId } from '../domain/ids.ts';
import type { Locks } from '../domain/locks.ts';
import type { Clock, Elapsed } from '../domain/time.ts';
import { sharingOf } from '../sharing/choose.ts';
import { accountDeletionsIn } from './account-deletions.ts';
import { type Account, accountsIn } from './accounts.ts';
import { type AppOfAccount, appsIn, sdkApp } from './apps.ts';
import { type Audit, type AuditEntry, auditIn } from './audit.ts';
import { createdBy, type Deeds, deedsOf, OPERATOR } from './deeds.ts';
import { deletionsIn } from './deletions.ts';
import { type Exclusions, exclusionsIn } from './exclusions.ts';
import { type KeyHour, keyRequestsIn } from './key-requests.ts';
import type { ApiKeySummary } from './key-rows.ts';
import { keyUsesIn } from './key-uses.ts';
import { keysIn } from './keys.ts';
import { type Links, linksIn } from './links.ts';
import { type Member, membersIn } from './members.ts';
import { type MovedApps, movedAppsIn } from './moved-apps.ts';
import { PLANS } from './plans.ts';
import { type RetentionOfApp, retentionsIn } from './retention.ts';
import { type SavedSegment, savedSegmentsIn } from './saved-segments.ts';
import { actorOf, type Session, type SessionsOfPeople, sessionsIn } from './sessions.ts';
import { type Share, type ShareFilter, sharesIn } from './shares.ts';
import type { Access, AppSummary, PlanName, Principal, RetentionOfPlans, SdkApp } from './types.ts';
import { monotonicVersions } from './versions.ts';

export type { Account } from './accounts.ts';
export type { AppOfAccount } from './apps.ts';
export type { AuditEntry } from './audit.ts';
export type { ApiKeySummary } from './key-rows.ts';
export type { Member } from './members.ts';
export type { Session } from './sessions.ts';
export type { Share } from './shares.ts';

/**
 * Accounts, API keys, apps and shares. An unknown id throws AppError `not_found`. A store that does not
 * answer throws `store_unavailable` or `overloaded`. A change takes effect at once in this process and within
 * 5 s in others. The changes of `Deeds` are the operator's.
 */
export interface Metadata extends Access, Deeds {
  createAccount(input: { readonly name: string; readonly plan: PlanName }): Promise<Account>;
  /** Sorted by age, oldest first. */
  listAccounts(): Promise<Account[]>;
  listKeys(account: AccountId): Promise<ApiKeySummary[]>;
  /** Returns owned and shared apps. Throws `not_found` for an unknown account. */
  appsOfAccount(account: AccountId): Promise<AppSummary[]>;
  /** Returns the apps of all accounts. */
  allApps(): Promise<AppOfAccount[]>;
  /** Finds an app by its id alone, for actions of the operator. */
  findApp(app: AppId): Promise<SdkApp | null>;
  /** Returns the setting of an app. Throws `not_found`. */
  retentionOf(app: AppId): Promise<RetentionOfApp>;
  /** Returns the addresses whose events an app leaves out. Throws `not_found`. */
  exclusionsOf(app: AppId): Promise<Exclusions>;
  /** Returns the apps whose raw events expire, and after how many days. */
  retentionsInForce(): Promise<readonly { readonly app: AppId; readonly days: number }[]>;
  listShares(filter?: ShareFilter): Promise<Share[]>;
  /** Links to apps' analytics, for people without an account. */
  readonly links: Pick<Links, 'authenticate' | 'find' | 'list'>;
  /** Moves apps between stores: see src/transfer. */
  readonly moving: MovedApps & Pick<Audit, 'recorded'>;
  /**
   * Finishes interrupted deletions, and erases rows that arrived late for a deleted app or account. Call it after
   * the start and about once a minute. Returns how many apps' deletions are still open.
   */
  resumeDeletions(): Promise<number>;
  /** Stores when keys were last used, and how often. Call it once a minute and at the end, never twice at once. */
  writeKeyUses(): Promise<void>;
  /** The same changes as somebody else than the operator. */
  by(actor: string): Deeds;
  /** Returns the segments that an account has saved, sorted by name. */
  listSegments(account: AccountId): Promise<SavedSegment[]>;
  listMembers(account: AccountId): Promise<Member[]>;
  /** Returns the links that still sign somebody in to the account; of each person the last one counts. */
  openSignInLinks(account: AccountId): Promise<{ readonly email: string; readonly expiresAt: string }[]>;
  /** Returns the accounts that a person may sign in to: the oldest membership first. */
  accountsOfPerson(email: string): Promise<Member[]>;
  /** Returns the newest entries first: of one account, or of all. */
  listAudit(account: AccountId | null): Promise<AuditEntry[]>;
  /** Counts a request of a key. */
  noteRequest(principal: Pick<Principal, 'accountId' | 'keyId'>, passes: boolean): void;
  /** Returns the requests of the account's keys in the last 24 hours. */
  requestsOfKeys(account: AccountId): Promise<KeyHour[]>;
  /** Returns an account in a state that is at most 4.5 s old; null if there is none. */
  findAccount(account: AccountId): Promise<Pick<Account, 'accountId' | 'name' | 'plan'> | null>;
  readonly sessions: Pick<SessionsOfPeople, 'find' | 'secret'> & {
    /** Opens a session for a link. Null for a link that is unknown, expired or used. */
    redeem(token: string): Promise<Session | null>;
    /** Opens a session for a person who has proved the address. Null for one who is no member of the account. */
    open(account: AccountId, email: string): Promise<Session | null>;
    /** Ends a session at once in this process, and within 5 s in others. */
    end(session: Session): Promise<void>;
  };
  /** Stops the look for changes. */
  close(): Promise<void>;
}

export interface MetadataOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly locks: Locks;
  /** Called for each app whose data are being erased, several times until they are gone. */
  readonly onErased?: (app: AppId) => void;
  readonly retentionOfPlans?: RetentionOfPlans;
  /** Controlled time, for tests. */
  readonly elapsed?: Elapsed;
}

export function createMetadata({
  db,
  clock,
  locks,
  onErased = () => undefined,
  retentionOfPlans = {},
  elapsed = () => performance.now(),
}: MetadataOptions): Metadata {
  const changes = sharingOf(db).changes(elapsed);
  const nextVersion = monotonicVersions(clock);
  const parts = { db, changes, clock, elapsed, locks, nextVersion, retentionOfPlans };
  const accounts = accountsIn(parts);
  const uses = keyUsesIn(parts);
  const keys = keysIn(parts, accounts, uses);
  const apps = appsIn(parts, accounts);
  const shares = sharesIn(parts, accounts, apps);
  const deletions = deletionsIn(parts, apps, onErased);
  const members = membersIn(parts, accounts);
  const sessions = sessionsIn(parts, accounts, members);
  const audit = auditIn(parts);
  const requests = keyRequestsIn(parts);
  const accountDeletions = accountDeletionsIn(parts, accounts, deletions);
  const retentions = retentionsIn(parts, apps);
  const exclusions = exclusionsIn(parts, apps);
  const links = linksIn(parts, accounts, apps);
  const segments = savedSegmentsIn(parts, accounts);
  const deeds = {
    retentions,
    exclusions,
    links,
    accounts,
    audit,
    keys,
    apps,
    shares,
    deletions,
    accountDeletions,
    segments,
    members,
    sessions,
  };
  const by = (actor: string): Deeds => deedsOf(deeds, actor);
  return {
    ...by(OPERATOR),
    by,
    async authenticate(apiKey) {
      const key = await keys.authenticate(apiKey);
      const account = key && (await accounts.cached(key.account));
      if (key === null || account === null) return null;
      uses.note(key.id, account.id);
      return { accountId: account.id, keyId: key.id, plan: PLANS[account.plan], actor: `key ${key.id}` };
    },
    authenticateApp: apps.authenticate,
    async canRead(account, app) {
      const found = await apps.cached(app);
      if (found === null) return false;
      return found.account === account || shares.isShared(app, account);
    },
    listApps: apps.list,
    createApp: ({ actor, accountId }, input) => createdBy(deeds, actor, accountId, input),
    createAccount: accounts.create,
    listAccounts: accounts.list,
    listKeys: keys.list,
    async appsOfAccount(account) {
      await accounts.get(account);
      return apps.list(account);
    },
    allApps: apps.all,
    async findApp(app) {
      const found = await apps.cached(app);
      return found && sdkApp(found);
    },
    retentionsInForce: retentions.inForce,
    retentionOf: retentions.get,
    exclusionsOf: exclusions.get,
    listShares: (filter = {}) => shares.list(filter),
    links,
    moving: { ...movedAppsIn(parts, apps), recorded: audit.recorded },
    async resumeDeletions() {
      await accountDeletions.sweep();
      return deletions.resumeDeletions();
    },
    async writeKeyUses() {
      await uses.write();
      await requests.write();
    },
    listSegments: segments.list,
    listMembers: members.list,
    openSignInLinks: sessions.openLinks,
    accountsOfPerson: members.ofPerson,
    listAudit: audit.list,
    noteRequest: ({ keyId, accountId }, passes) => requests.note(keyId, accountId, passes),
    requestsOfKeys: requests.of,
    async findAccount(account) {
      const found = await accounts.cached(account);
      return found && { accountId: found.id, name: found.name, plan: found.plan };
    },
    sessions: peopleIn(sessions, audit),
    close: () => changes.close(),
  };
}

/** Records when people sign in and out. */
function peopleIn(sessions: SessionsOfPeople, audit: Audit): Metadata['sessions'] {
  const opened = async (session: Session | null): Promise<Session | null> => {
    if (session !== null)
      await audit.recorded({ ...deedOf(session), action: 'session.open' }, async () => undefined);
    return session;
  };
  return {
    find: sessions.find,
    secret: sessions.secret,
    redeem: async (token) => opened(await sessions.redeem(token)),
    open: async (account, email) => opened(await sessions.open(account, email)),
    end: (session) =>
      audit.recorded({ ...deedOf(session), action: 'session.end' }, () => sessions.end(session.id)),
  };
}

const deedOf = (session: Session) => ({
  account: session.account,
  actor: actorOf(session),
  subject: session.id,
});
