import { AppError } from '../domain/errors.ts';
import type { AccountId, AppId, KeyId, LinkId, SegmentId } from '../domain/ids.ts';
import { type EpochMs, toIso } from '../domain/time.ts';
import type { AccountDeletions } from './account-deletions.ts';
import type { Account, Accounts } from './accounts.ts';
import type { Apps } from './apps.ts';
import { type Audit, type AuditAction, type Deed, NO_ACCOUNT } from './audit.ts';
import type { Deletions } from './deletions.ts';
import type { Exclusions, ExclusionsOfApps } from './exclusions.ts';
import type { ApiKeySummary } from './key-rows.ts';
import type { CreatedKey, Keys } from './keys.ts';
import type { AppLink } from './link-rows.ts';
import type { CreatedLink, Links, NewLink } from './links.ts';
import type { Member, Members, Role } from './members.ts';
import type { RetentionOfApp, Retentions } from './retention.ts';
import type { NamedSegment, SavedSegment, SavedSegments } from './saved-segments.ts';
import type { SessionsOfPeople, SignInLink } from './sessions.ts';
import type { Shares } from './shares.ts';
import type { CreatedApp, PlanName } from './types.ts';

/** The actor of the management API. */
export const OPERATOR = 'operator';

/** Changes of an account's things by somebody. Each is recorded in the audit. An unknown id throws `not_found`. */
export interface Deeds {
  /** Throws `validation_failed` for an expiry that is not in the future. */
  createKey(
    account: AccountId,
    input: { readonly name?: string; readonly expiresAt: EpochMs | null },
  ): Promise<CreatedKey>;
  /**
   * The old key stays valid for `overlapMs`, never beyond its own expiry. Throws `validation_failed` if it is
   * revoked.
   */
  rotateKey(
    key: KeyId,
    input: { readonly overlapMs: number; readonly expiresAt: EpochMs | null },
  ): Promise<CreatedKey>;
  revokeKey(key: KeyId): Promise<ApiKeySummary>;
  /** Throws `domain_conflict` or `plan_blocked`. */
  addApp(account: AccountId, input: { readonly name: string; readonly domain: string }): Promise<CreatedApp>;
  rotateSecret(app: AppId, input: { readonly overlapMs: number }): Promise<{ readonly secretKey: string }>;
  shareApp(app: AppId, account: AccountId): Promise<void>;
  unshareApp(app: AppId, account: AccountId): Promise<void>;
  /**
   * Sets for how many days an app's raw events are kept; null: for ever. New events are refused by it within 5 s;
   * nothing is deleted before an hour has passed.
   */
  setRetention(app: AppId, days: number | null): Promise<RetentionOfApp>;
  /** Replaces the list of addresses whose events an app leaves out. It takes effect within 5 s. */
  setExclusions(app: AppId, addresses: readonly string[]): Promise<Exclusions>;
  /**
   * Makes a link to the app's analytics, for people without an account. Throws `validation_failed` for an expiry that is
   * not in the future, and `plan_blocked` if the app has too many links.
   */
  createLink(app: AppId, link: NewLink): Promise<CreatedLink>;
  /** Sets which sites may show a link in a frame. */
  setLinkOrigins(app: AppId, link: LinkId, origins: readonly string[]): Promise<AppLink>;
  /** Ends a link: at once in this process, within 5 s in others. */
  revokeLink(app: AppId, link: LinkId): Promise<AppLink>;
  /** Ends the app at once. Resolves when its rows are gone from every table. Can be repeated. */
  deleteApp(app: AppId): Promise<void>;
  /** Saves a segment under a name. Throws `validation_failed` for a name that is taken, and beyond 100. */
  saveSegment(account: AccountId, segment: NamedSegment): Promise<SavedSegment>;
  /** Gives a saved segment another name or other conditions. */
  changeSegment(account: AccountId, id: SegmentId, segment: NamedSegment): Promise<SavedSegment>;
  deleteSegment(account: AccountId, id: SegmentId): Promise<void>;
  setPlan(account: AccountId, plan: PlanName): Promise<Account>;
  renameAccount(account: AccountId, name: string): Promise<Account>;
  /**
   * Ends the account and its apps at once. Resolves when their rows are gone from every table. Can be repeated.
   */
  deleteAccount(account: AccountId): Promise<void>;
  /**
   * Makes somebody a member. For a member with the same role nothing changes. Throws `validation_failed` for one with
   * another role.
   */
  addMember(account: AccountId, email: string, role: Role): Promise<Member>;
  /** Adds a member, or gives one another role. Throws `forbidden` if the account would lose its last owner. */
  setMember(account: AccountId, email: string, role: Role): Promise<Member>;
  /** Throws `forbidden` for the account's last owner. */
  removeMember(account: AccountId, email: string): Promise<void>;
  /** Ends all sessions and unused links of the account's people: at once in this process, within 5 s in others. */
  endSessions(account: AccountId): Promise<{ readonly ended: number }>;
  /** Makes a link that signs in once, within 10 minutes. `email`: empty for an owner without a name. */
  createSignInLink(account: AccountId, email: string): Promise<SignInLink>;
  /** Makes a link that signs a member in once, within 7 days, into this account alone. */
  createInvitation(account: AccountId, email: string): Promise<SignInLink>;
}

export interface DeedsParts {
  readonly accounts: Accounts;
  readonly audit: Audit;
  readonly keys: Keys;
  readonly apps: Apps;
  readonly shares: Shares;
  readonly deletions: Deletions;
  readonly retentions: Retentions;
  readonly exclusions: ExclusionsOfApps;
  readonly links: Links;
  readonly accountDeletions: AccountDeletions;
  readonly segments: SavedSegments;
  readonly members: Members;
  readonly sessions: SessionsOfPeople;
}

/** An app of a repeated deletion is gone, and its account is not known any more. */
const foundOf = (apps: Apps, app: AppId) =>
  apps.get(app).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  });

export function deedsOf(
  {
    accounts,
    audit,
    keys,
    apps,
    shares,
    retentions,
    exclusions,
    links,
    deletions,
    accountDeletions,
    segments,
    members,
    sessions,
  }: DeedsParts,
  actor: string,
): Deeds {
  const { recorded } = audit;
  /** Only the operator, who can make an owner at any time, may leave an account without one. */
  const keepsOwner = actor !== OPERATOR;
  const onKey = async (key: KeyId, action: AuditAction): Promise<Deed> => {
    const { account, name } = await keys.get(key);
    return { account, actor, action, subject: key, details: name === '' ? {} : { name } };
  };
  const onApp = async <T>(
    app: AppId,
    action: AuditAction,
    details: Deed['details'],
    act: () => Promise<T>,
  ): Promise<T> => {
    const found = await foundOf(apps, app);
    // Nothing of it can be changed: the act itself says so.
    if (found === null) return act();
    const { account, domain } = found;
    return recorded({ account, actor, action, subject: app, details: { domain, ...details } }, act);
  };
  const onAccount = async (
    account: AccountId,
    action: AuditAction,
    details: Readonly<Record<string, string>>,
    change: Parameters<Accounts['change']>[1],
  ): Promise<Account> => {
    await accounts.get(account);
    return recorded({ account, actor, action, subject: account, details }, () =>
      accounts.change(account, change),
    );
  };
  const onPerson = async <T>(
    account: AccountId,
    action: AuditAction,
    email: string,
    details: NonNullable<Deed['details']>,
    act: () => Promise<T>,
  ): Promise<T> => {
    await accounts.get(account);
    return recorded({ account, actor, action, subject: email, details }, act);
  };
  const setRole = (account: AccountId, email: string, role: Role, keepsRole: boolean): Promise<Member> =>
    onPerson(account, 'member.set', email, { role }, () =>
      members.set(account, email, role, {
        keepsOwner,
        keepsRole,
        beforeAdding: () => sessions.endOf(account, email),
      }),
    );
  return {
    async createKey(account, { name = '', expiresAt }) {
      await accounts.get(account);
      const details = name === '' ? {} : { name };
      return recorded(
        { account, actor, action: 'key.create', subject: '', details },
        () => keys.create(account, name, expiresAt),
        ({ keyId }) => ({ subject: keyId }),
      );
    },
    async rotateKey(key, { overlapMs, expiresAt }) {
      const deed = await onKey(key, 'key.rotate');
      const rotate = () => keys.rotate(key, overlapMs, expiresAt);
      return recorded(deed, rotate, ({ keyId }) => ({ details: { ...deed.details, replacedBy: keyId } }));
    },
    revokeKey: async (key) => recorded(await onKey(key, 'key.revoke'), () => keys.revoke(key)),
    async addApp(account, input) {
      await accounts.get(account);
      return createdBy({ audit, apps }, actor, account, input);
    },
    rotateSecret: (app, { overlapMs }) =>
      onApp(app, 'app.rotate-secret', { overlapMs }, () => apps.rotateSecret(app, overlapMs)),
    shareApp: (app, account) => onApp(app, 'app.share', { account }, () => shares.share(app, account)),
    unshareApp: (app, account) => onApp(app, 'app.unshare', { account }, () => shares.unshare(app, account)),
    setRetention: (app, days) => onApp(app, 'app.retention', { days }, () => retentions.set(app, days)),
    setExclusions: (app, addresses) =>
      onApp(app, 'app.exclusions', { addresses: addresses.join(' ') }, () => exclusions.set(app, addresses)),
    createLink: async (app, link) => {
      const { account, domain } = await apps.get(app);
      const { name, segment, origins, expiresAt } = link;
      const end = expiresAt === null ? null : toIso(expiresAt);
      const details = { domain, name, segment, origins: origins.join(' '), expiresAt: end };
      return recorded(
        { account, actor, action: 'app.link', subject: app, details },
        () => links.create(app, link),
        ({ linkId }) => ({ details: { ...details, link: linkId } }),
      );
    },
    setLinkOrigins: (app, link, origins) =>
      onApp(app, 'app.link-origins', { link, origins: origins.join(' ') }, () =>
        links.setOrigins(app, link, origins),
      ),
    revokeLink: (app, link) => onApp(app, 'app.unlink', { link }, () => links.revoke(app, link)),
    deleteApp: (app) => onApp(app, 'app.delete', {}, () => deletions.deleteApp(app)),
    saveSegment: (account, segment) =>
      recorded(
        { account, actor, action: 'segment.create', subject: '', details: { ...segment } },
        () => segments.create(account, segment),
        ({ segmentId }) => ({ subject: segmentId }),
      ),
    changeSegment: (account, id, segment) =>
      recorded({ account, actor, action: 'segment.change', subject: id, details: { ...segment } }, () =>
        segments.change(account, id, segment),
      ),
    async deleteSegment(account, id) {
      const { name, segment } = await segments.get(account, id);
      const details = { name, segment };
      return recorded({ account, actor, action: 'segment.delete', subject: id, details }, () =>
        segments.delete(account, id),
      );
    },
    setPlan: (account, plan) => onAccount(account, 'account.plan', { plan }, { plan }),
    renameAccount: (account, name) => onAccount(account, 'account.rename', { name }, { name }),
    async deleteAccount(account) {
      const act = () => accountDeletions.deleteAccount(account);
      // It is unknown, or gone already: the act itself says so, or goes on with the rest.
      if ((await accounts.cached(account)) === null) return act();
      return recorded({ account: NO_ACCOUNT, actor, action: 'account.delete', subject: account }, act);
    },
    addMember: (account, email, role) => setRole(account, email, role, true),
    setMember: (account, email, role) => setRole(account, email, role, false),
    removeMember: (account, email) =>
      onPerson(account, 'member.remove', email, {}, () => members.remove(account, email, keepsOwner)),
    endSessions: (account) =>
      onPerson(account, 'session.end', 'all', {}, async () => ({ ended: await sessions.endAll(account) })),
    createSignInLink: (account, email) =>
      onPerson(account, 'link.create', email, {}, () => sessions.createLink(account, email)),
    createInvitation: (account, email) =>
      onPerson(account, 'link.create', email, {}, () => sessions.createInvitation(account, email)),
  };
}

/** Records the creation of an app. */
export const createdBy = (
  { audit, apps }: Pick<DeedsParts, 'audit' | 'apps'>,
  actor: string,
  account: AccountId,
  input: { readonly name: string; readonly domain: string },
): Promise<CreatedApp> =>
  audit.recorded(
    { account, actor, action: 'app.create', subject: '', details: { ...input } },
    () => apps.create(account, input),
    ({ id }) => ({ subject: id }),
  );
