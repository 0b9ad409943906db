import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { batched, byKey } from '../domain/batched.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, accountId } from '../domain/ids.ts';
import type { EpochMs } from '../domain/time.ts';
import type { Accounts } from './accounts.ts';
import { FreshCache } from './fresh-cache.ts';
import { CACHED, Instant, LOOK_UP, type MetadataParts, Version } from './rows.ts';

export const ROLES = ['owner', 'viewer'] as const;
/** A viewer sees everything of the account, and changes nothing. */
export type Role = (typeof ROLES)[number];

/** A person who may sign in to an account. */
export interface Member {
  readonly accountId: AccountId;
  /** In lower case. */
  readonly email: string;
  readonly role: Role;
}

interface MemberRow {
  readonly accountId: AccountId;
  readonly email: string;
  readonly role: Role | 'none';
  /** The beginning of the membership; 1970 for one of an earlier version. */
  readonly since: EpochMs;
  readonly version: number;
}

const MEMBERS = sql`SELECT toString(account_id) AS accountId, email, toString(role) AS role, toUnixTimestamp64Milli(since) AS since, version
FROM console_members FINAL
WHERE account_id NOT IN (SELECT account_id FROM deleted_accounts)`;
const Row = z.object({
  accountId: z.string().transform(accountId),
  email: z.string(),
  role: z.enum([...ROLES, 'none']),
  since: Instant,
  version: Version,
});
const BY_PAIR: Query<MemberRow> = {
  name: 'members by address and account',
  sql: sql`${MEMBERS} AND email IN {emails:Array(String)} AND account_id IN {accounts:Array(UUID)}`,
  row: Row,
};
const OF_ACCOUNT: Query<MemberRow> = {
  name: 'members of account',
  sql: sql`${MEMBERS} AND account_id = {account:UUID} ORDER BY email`,
  row: Row,
};
const OF_PERSON: Query<MemberRow> = {
  name: 'accounts of person',
  sql: sql`${MEMBERS} AND email = {email:String} ORDER BY since, accountId`,
  row: Row,
};

interface RoleChange {
  /** True: the account's last owner stays one. */
  readonly keepsOwner: boolean;
  /** True: a member who has another role keeps it, and the change is refused. */
  readonly keepsRole?: boolean;
  /** Runs before somebody becomes a member. */
  readonly beforeAdding: () => Promise<void>;
}

const pairOf = (email: string, account: string): string => `${email} ${account}`;
const isMember = (row: MemberRow): row is MemberRow & { readonly role: Role } => row.role !== 'none';
const asMember = ({ accountId, email, role }: MemberRow & { readonly role: Role }): Member => ({
  accountId,
  email,
  role,
});

export type Members = ReturnType<typeof membersIn>;

export function membersIn({ db, changes, clock, locks, nextVersion }: MetadataParts, accounts: Accounts) {
  const read = (emails: readonly string[], ids: readonly string[]): Promise<MemberRow[]> =>
    db.query(BY_PAIR, { emails, accounts: ids }, LOOK_UP);
  const cache = new FreshCache<MemberRow>({
    kind: 'member',
    changes,
    max: CACHED,
    load: batched(async (pairs) => {
      const parts = pairs.map((pair) => pair.split(' '));
      const rows = await read(
        parts.map(([email = '']) => email),
        parts.map(([, account = '']) => account),
      );
      return byKey(rows.filter(isMember), ({ email, accountId }) => pairOf(email, accountId));
    }),
  });

  /** Throws `forbidden` if the person is the account's only owner. */
  const assertOtherOwner = async (account: AccountId, email: string): Promise<void> => {
    const rows = await db.query(OF_ACCOUNT, { account });
    if (rows.some((row) => row.role === 'owner' && row.email !== email)) return;
    throw new AppError('forbidden', 'An account keeps one owner: make somebody else an owner first.');
  };

  /** Writes a role, unless it is the one that the person has. Returns the role before. */
  const write = (
    account: AccountId,
    email: string,
    role: Role | 'none',
    { keepsOwner, keepsRole = false, beforeAdding }: RoleChange,
  ): Promise<Role | 'none'> =>
    locks.withLock(`member:${account}`, async (assertHeld) => {
      await accounts.get(account);
      const [before] = await read([email], [account]);
      const had = before?.role ?? 'none';
      if (had === role) return had;
      if (had !== 'none' && keepsRole) throw hasOtherRole();
      if (had === 'owner' && keepsOwner) await assertOtherOwner(account, email);
      if (had === 'none') await beforeAdding();
      await assertHeld();
      const version = nextVersion(before?.version);
      const since = dateTime64(had === 'none' || before === undefined ? clock() : before.since);
      try {
        await db.insert('console_members', [{ email, account_id: account, role, since, version }]);
      } finally {
        cache.invalidate(pairOf(email, account));
      }
      return had;
    });

  return {
    /** Returns a state that is at most 4.5 s old; null for somebody who is no member. */
    async roleOf(account: AccountId, email: string): Promise<Role | null> {
      const row = await cache.get(pairOf(email, account));
      return row !== null && isMember(row) ? row.role : null;
    },

    async list(account: AccountId): Promise<Member[]> {
      await accounts.get(account);
      return (await db.query(OF_ACCOUNT, { account })).filter(isMember).map(asMember);
    },

    /** Returns the accounts that a person may sign in to: the oldest membership first. */
    async ofPerson(email: string): Promise<Member[]> {
      return (await db.query(OF_PERSON, { email })).filter(isMember).map(asMember);
    },

    /**
     * Adds a member, or gives one another role. Throws `forbidden` for the last owner, and `validation_failed` for a
     * member who keeps another role.
     */
    async set(account: AccountId, email: string, role: Role, change: RoleChange): Promise<Member> {
      await write(account, email, role, change);
      return { accountId: account, email, role };
    },

    /** Ends a membership. Its sessions are invalid from then on. Throws `not_found` if there is none. */
    async remove(account: AccountId, email: string, keepsOwner: boolean): Promise<void> {
      const change = { keepsOwner, beforeAdding: async () => undefined };
      if ((await write(account, email, 'none', change)) !== 'none') return;
      throw new AppError('not_found', `${email} is no member of account ${account}.`);
    },
  };
}

const hasOtherRole = (): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', {
    errors: [{ field: 'role', message: 'The person is a member with another role: change the role first.' }],
  });
