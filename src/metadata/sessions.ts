import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { batched, byKey } from '../domain/batched.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, accountId } from '../domain/ids.ts';
import { DAY_MS, type EpochMs, epochMs, HOUR_MS, MINUTE_MS, toIso } from '../domain/time.ts';
import type { Accounts } from './accounts.ts';
import { hashCredential } from './credentials.ts';
import { FreshCache } from './fresh-cache.ts';
import type { Members, Role } from './members.ts';
import { CACHED, hasExpired, Instant, instantColumn, LOOK_UP, type MetadataParts, Version } from './rows.ts';

const SESSION_MS = 12 * HOUR_MS;
const LINK_MS = 10 * MINUTE_MS;
const INVITATION_MS = 7 * DAY_MS;
const SECRET_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** Somebody who is signed in. */
export interface Session {
  readonly id: string;
  readonly account: AccountId;
  /** Empty: an owner without a name, by a link of the operator. */
  readonly email: string;
  readonly role: Role;
  readonly expiresAt: EpochMs;
  /** An owner of the account made its link: nobody has proved the e-mail address. */
  readonly isByInvitation: boolean;
}

/** True for a session that stays in its account, because it does not show whose the e-mail address is. */
export const isBound = ({ email, isByInvitation }: Pick<Session, 'email' | 'isByInvitation'>): boolean =>
  email === '' || isByInvitation;

/** The name of a session's person in the audit. */
export const actorOf = ({ email }: Pick<Session, 'email'>): string => (email === '' ? 'sign-in link' : email);

export interface SignInLink {
  /** Shown once. */
  readonly token: string;
  readonly expiresAt: string;
}

interface SessionRow extends Omit<Session, 'role'> {
  readonly endedAt: EpochMs | null;
  readonly version: number;
}

const COLUMNS = sql`toString(session_id) AS id, toString(account_id) AS account, email, toUnixTimestamp64Milli(expires_at) AS expiresAt,
  toUnixTimestamp64Milli(ended_at) AS endedAt, is_invitation AS isByInvitation, version`;
const Row = z.object({
  id: z.string(),
  account: z.string().transform(accountId),
  email: z.string(),
  expiresAt: Instant,
  endedAt: Instant.nullable(),
  isByInvitation: z.int().transform(Boolean),
  version: Version,
});
const SESSIONS: Query<SessionRow> = {
  name: 'sessions by id',
  sql: sql`SELECT ${COLUMNS} FROM console_sessions FINAL WHERE session_id IN {ids:Array(UUID)}`,
  row: Row,
};
const OPEN_SESSIONS: Query<SessionRow> = {
  name: 'open sessions of account',
  sql: sql`SELECT ${COLUMNS} FROM console_sessions FINAL WHERE account_id = {account:UUID} AND ended_at IS NULL`,
  row: Row,
};
const LINK: Query<{ account: AccountId; email: string; expiresAt: EpochMs; isInvitation: boolean }> = {
  name: 'sign-in link',
  sql: sql`SELECT toString(account_id) AS account, email, toUnixTimestamp64Milli(expires_at) AS expiresAt,
  is_invitation AS isInvitation
FROM console_links WHERE link_hash = {hash:String}`,
  row: z.object({
    account: z.string().transform(accountId),
    email: z.string(),
    expiresAt: Instant,
    isInvitation: z.int().transform(Boolean),
  }),
};
const OPEN_LINKS: Query<{ hash: string; email: string; expiresAt: EpochMs }> = {
  name: 'unused sign-in links of account',
  sql: sql`SELECT link_hash AS hash, email, toUnixTimestamp64Milli(expires_at) AS expiresAt FROM console_links
WHERE account_id = {account:UUID} AND link_hash NOT IN (SELECT link_hash FROM console_link_uses)
ORDER BY expires_at`,
  row: z.object({ hash: z.string(), email: z.string(), expiresAt: Instant }),
};
/** The session of a link that was withdrawn. */
const NO_SESSION = '00000000-0000-0000-0000-000000000000';
const LINK_USE: Query<{ session: string }> = {
  name: 'use of sign-in link',
  sql: sql`SELECT toString(session_id) AS session FROM console_link_uses WHERE link_hash = {hash:String}`,
  row: z.object({ session: z.string() }),
};
const SECRET: Query<{ value: string }> = {
  name: 'console secret',
  sql: sql`SELECT value FROM console_secrets WHERE name = 'session'`,
  row: z.object({ value: z.string() }),
};

export type SessionsOfPeople = ReturnType<typeof sessionsIn>;

export function sessionsIn(
  { db, changes, clock, nextVersion }: MetadataParts,
  accounts: Accounts,
  members: Members,
) {
  const cache = new FreshCache<SessionRow>({
    kind: 'session',
    changes,
    max: CACHED,
    load: batched(async (ids) => byKey(await db.query(SESSIONS, { ids }, LOOK_UP), ({ id }) => id)),
  });

  const write = async (row: SessionRow): Promise<void> => {
    try {
      await db.insert('console_sessions', [
        {
          session_id: row.id,
          account_id: row.account,
          email: row.email,
          expires_at: dateTime64(row.expiresAt),
          ended_at: instantColumn(row.endedAt),
          is_invitation: Number(row.isByInvitation),
          version: row.version,
        },
      ]);
    } finally {
      cache.invalidate(row.id);
    }
  };

  const end = (row: SessionRow): Promise<void> =>
    write({ ...row, endedAt: clock(), version: nextVersion(row.version) });

  /** Uses a link up. The store keeps the first use. */
  const use = (hash: string, session: string): Promise<void> =>
    db.insert('console_link_uses', [{ link_hash: hash, session_id: session }], { token: hash });

  const withdraw = async (account: AccountId, isMeant: (email: string) => boolean): Promise<void> => {
    const links = await db.query(OPEN_LINKS, { account });
    for (const { hash } of links.filter(({ email }) => isMeant(email))) await use(hash, NO_SESSION);
  };

  /**
   * Ends sessions of an account, and withdraws its unused links. Returns how many sessions. A link that is being redeemed
   * is withdrawn, or its session is found: `redeem` opens the session before it uses the link.
   */
  const endThose = async (account: AccountId, isMeant: (email: string) => boolean): Promise<number> => {
    await withdraw(account, isMeant);
    const rows = (await db.query(OPEN_SESSIONS, { account })).filter(({ email }) => isMeant(email));
    for (const row of rows) await end(row);
    return rows.length;
  };

  /** Null if the account is gone, or the person is no member any more. */
  const withRole = async (row: SessionRow): Promise<Session | null> => {
    const { id, account, email, expiresAt, isByInvitation } = row;
    if ((await accounts.cached(account)) === null) return null;
    const role = email === '' ? 'owner' : await members.roleOf(account, email);
    return role === null ? null : { id, account, email, role, expiresAt, isByInvitation };
  };

  /** Opens a session of 12 h. Null for a person who is no member of the account. */
  const open = async (
    account: AccountId,
    email: string,
    { id = randomUUID(), isByInvitation = false } = {},
  ): Promise<Session | null> => {
    const row: SessionRow = {
      id,
      account,
      email,
      expiresAt: epochMs(clock() + SESSION_MS),
      endedAt: null,
      isByInvitation,
      version: nextVersion(),
    };
    const session = await withRole(row);
    if (session !== null) await write(row);
    return session;
  };

  /** Throws `not_found` for an unknown account or member. */
  const createLink = async (
    account: AccountId,
    email: string,
    isInvitation: boolean,
  ): Promise<SignInLink> => {
    await accounts.get(account);
    if (email !== '' && (await members.roleOf(account, email)) === null) {
      throw new AppError('not_found', `${email} is no member of account ${account}. Add the member first.`);
    }
    const token = randomBytes(SECRET_BYTES).toString('base64url');
    const expiresAt = epochMs(clock() + (isInvitation ? INVITATION_MS : LINK_MS));
    const link = { link_hash: hashCredential(token), account_id: account, email };
    const row = { ...link, expires_at: dateTime64(expiresAt), is_invitation: Number(isInvitation) };
    await db.insert('console_links', [row]);
    return { token, expiresAt: toIso(expiresAt) };
  };

  return {
    open: (account: AccountId, email: string): Promise<Session | null> => open(account, email),

    /** Returns the session if it is valid now. Its state is at most 4.5 s old. */
    async find(id: string): Promise<Session | null> {
      const row = await cache.get(id);
      if (row === null || row.endedAt !== null || hasExpired(row.expiresAt, clock())) return null;
      return withRole(row);
    },

    /** Ends a session at once in this process, and within 5 s in others. */
    async end(id: string): Promise<void> {
      const [row] = await db.query(SESSIONS, { ids: [id] });
      if (row === undefined || row.endedAt !== null) return;
      await end(row);
    },

    /** Ends all sessions of an account, and withdraws its unused links. Returns how many sessions. */
    endAll: (account: AccountId): Promise<number> => endThose(account, () => true),

    /** The same for one person, so that a new membership does not make them valid again. */
    async endOf(account: AccountId, email: string): Promise<void> {
      await endThose(account, (one) => one === email);
    },

    /** Makes a link that signs in once, within 10 minutes. Throws `not_found` for an unknown account or member. */
    createLink: (account: AccountId, email: string): Promise<SignInLink> => createLink(account, email, false),

    /**
     * Makes a link that signs a member in once, within 7 days, into this account alone: the owner who makes it has not
     * proved that the address is the member's. Withdraws the links that the member has.
     */
    async createInvitation(account: AccountId, email: string): Promise<SignInLink> {
      await withdraw(account, (one) => one === email);
      return createLink(account, email, true);
    },

    /** The links that still sign somebody in; of each person the last one counts. */
    async openLinks(account: AccountId): Promise<{ email: string; expiresAt: string }[]> {
      const links = await db.query(OPEN_LINKS, { account });
      return links
        .filter(({ expiresAt }) => !hasExpired(expiresAt, clock()))
        .map(({ email, expiresAt }) => ({ email, expiresAt: toIso(expiresAt) }));
    },

    /**
     * Opens the session of a link. Null for a link that is unknown, expired or used. Of several attempts the first
     * insert wins, on any process: a later one has the same token and is dropped, and its session ends. If this process
     * stops after that insert, the link is used up.
     */
    async redeem(token: string): Promise<Session | null> {
      if (!TOKEN.test(token)) return null;
      const hash = hashCredential(token);
      const [link] = await db.query(LINK, { hash });
      if (link === undefined || hasExpired(link.expiresAt, clock())) return null;
      if ((await db.query(LINK_USE, { hash })).length > 0) return null;
      const id = randomUUID();
      const session = await open(link.account, link.email, { id, isByInvitation: link.isInvitation });
      await use(hash, id);
      const [first] = await db.query(LINK_USE, { hash });
      if (first?.session === id) return session;
      for (const row of await db.query(SESSIONS, { ids: [id] })) await end(row);
      return null;
    },

    /** Returns the secret that signs cookies, the same in every process. The first call makes it. */
    async secret(): Promise<string> {
      const [known] = await db.query(SECRET);
      if (known !== undefined) return known.value;
      const value = randomBytes(SECRET_BYTES).toString('base64url');
      await db.insert('console_secrets', [{ name: 'session', value }], { token: 'session' });
      const [stands] = await db.query(SECRET);
      return stands?.value ?? value;
    },
  };
}
