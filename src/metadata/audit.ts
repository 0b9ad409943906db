import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, accountId } from '../domain/ids.ts';
import { type EpochMs, toIso } from '../domain/time.ts';
import { Instant, type MetadataParts } from './rows.ts';

/** The most entries of an answer: the newest ones. */
const MOST_ENTRIES = 500;

export type AuditAction =
  | 'key.create'
  | 'key.rotate'
  | 'key.revoke'
  | 'app.create'
  | 'app.rotate-secret'
  | 'app.share'
  | 'app.unshare'
  | 'app.delete'
  | 'app.export'
  | 'app.import'
  | 'app.retention'
  | 'app.exclusions'
  | 'app.link'
  | 'app.link-origins'
  | 'app.unlink'
  | 'visitor.erase'
  | 'account.rename'
  | 'account.plan'
  | 'account.delete'
  | 'segment.create'
  | 'segment.change'
  | 'segment.delete'
  | 'member.set'
  | 'member.remove'
  | 'link.create'
  | 'session.open'
  | 'session.end';

/** The account of deeds that outlive theirs: a deleted account's entries are deleted with it. */
export const NO_ACCOUNT = accountId('00000000-0000-0000-0000-000000000000');

/** A deed, and the person or key that did it. */
export interface Deed {
  readonly account: AccountId;
  /** `operator`, `key ID`, `sign-in link`, or an e-mail address. */
  readonly actor: string;
  readonly action: AuditAction;
  /** The id of a key, an app or an account, or an e-mail address. */
  readonly subject: string;
  /** Further facts about the deed, never a secret. */
  readonly details?: Readonly<Record<string, string | number | null>>;
}

export interface AuditEntry extends Required<Omit<Deed, 'account'>> {
  readonly accountId: AccountId;
  readonly at: string;
  /** `begun` for good: the process stopped in between. Otherwise `done` or the code of an error. */
  readonly outcome: string;
}

const ENTRIES: Query<AuditEntry> = {
  name: 'audit',
  sql: sql`SELECT toString(account_id) AS accountId, toUnixTimestamp64Milli(at) AS at, actor, action, subject, details, outcome
FROM audit_log FINAL
WHERE empty({accounts:Array(UUID)}) OR account_id IN {accounts:Array(UUID)}
ORDER BY audit_log.at DESC, entry_id LIMIT ${MOST_ENTRIES}`,
  row: z.object({
    accountId: z.string().transform(accountId),
    at: Instant.transform(toIso),
    actor: z.string(),
    action: z.string().transform((action) => action as AuditAction),
    subject: z.string(),
    details: z.string().transform((json) => JSON.parse(json) as AuditEntry['details']),
    outcome: z.string(),
  }),
};

export type Audit = ReturnType<typeof auditIn>;

export function auditIn({ db, clock, nextVersion }: MetadataParts) {
  const write = async (deed: Deed, id: string, at: EpochMs, outcome: string): Promise<void> => {
    const { account, actor, action, subject, details = {} } = deed;
    const entry = { account_id: account, at: dateTime64(at), entry_id: id, actor, action, subject };
    const row = { ...entry, details: JSON.stringify(details), outcome, version: nextVersion() };
    await db.insert('audit_log', [row]);
  };

  return {
    /**
     * Does something, and records it: before, so that nothing is done without a trace, and once more with its
     * outcome. `found` adds the facts that are only known afterwards, such as the id of something new.
     */
    async recorded<T>(
      deed: Deed,
      act: () => Promise<T>,
      found: (result: T) => Partial<Pick<Deed, 'subject' | 'details'>> = () => ({}),
    ): Promise<T> {
      const id = randomUUID();
      const at = clock();
      await write(deed, id, at, 'begun');
      let done = deed;
      let outcome = 'done';
      try {
        const result = await act();
        done = { ...deed, ...found(result) };
        return result;
      } catch (error) {
        outcome = error instanceof AppError ? error.code : 'internal';
        throw error;
      } finally {
        // The deed is done or refused, even if this row cannot be written.
        await write(done, id, at, outcome).catch(() => undefined);
      }
    },

    /** Returns the newest entries first: of one account, or of all. */
    list: (account: AccountId | null): Promise<AuditEntry[]> =>
      db.query(ENTRIES, { accounts: account === null ? [] : [account] }),
  };
}
