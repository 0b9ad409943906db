import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, type SegmentId, segmentId } from '../domain/ids.ts';
import type { Accounts } from './accounts.ts';
import { type MetadataParts, Version } from './rows.ts';

const MOST_OF_ACCOUNT = 100;

/** A segment of the Public API, and the name under which people find it. Both are validated already. */
export interface NamedSegment {
  readonly name: string;
  readonly segment: string;
}

/** A segment that people saved in their account. */
export interface SavedSegment extends NamedSegment {
  readonly segmentId: SegmentId;
}

interface SegmentRow extends SavedSegment {
  readonly version: number;
}

const OF_ACCOUNT: Query<SegmentRow> = {
  name: 'saved segments of account',
  sql: sql`SELECT toString(segment_id) AS segmentId, name, segment, version FROM saved_segments FINAL
WHERE account_id = {account:UUID} AND name != '' ORDER BY lowerUTF8(name), segment_id`,
  row: z.object({
    segmentId: z.string().transform(segmentId),
    name: z.string(),
    segment: z.string(),
    version: Version,
  }),
};

export type SavedSegments = ReturnType<typeof savedSegmentsIn>;

export function savedSegmentsIn({ db, locks, nextVersion }: MetadataParts, accounts: Accounts) {
  const read = async (account: AccountId): Promise<SegmentRow[]> => {
    await accounts.get(account);
    return db.query(OF_ACCOUNT, { account });
  };

  const write = (
    account: AccountId,
    { segmentId, name, segment }: SavedSegment,
    before?: SegmentRow,
  ): Promise<void> =>
    db.insert('saved_segments', [
      { account_id: account, segment_id: segmentId, name, segment, version: nextVersion(before?.version) },
    ]);

  /** Runs `act` alone among the changes of the account's segments. */
  const alone = <T>(
    account: AccountId,
    act: (rows: readonly SegmentRow[], assertHeld: () => Promise<void>) => Promise<T>,
  ): Promise<T> =>
    locks.withLock(`segments:${account}`, async (assertHeld) => act(await read(account), assertHeld));

  return {
    /** Sorted by name. */
    list: async (account: AccountId): Promise<SavedSegment[]> => (await read(account)).map(asSaved),

    /** Throws `not_found`. */
    get: async (account: AccountId, id: SegmentId): Promise<SavedSegment> => found(await read(account), id),

    create: (account: AccountId, named: NamedSegment): Promise<SavedSegment> =>
      alone(account, async (rows, assertHeld) => {
        if (rows.length >= MOST_OF_ACCOUNT) throw wrongName(TOO_MANY);
        assertFree(rows, named.name);
        const saved = { segmentId: segmentId(randomUUID()), ...named };
        await assertHeld();
        await write(account, saved);
        return saved;
      }),

    /** Throws `not_found`. */
    change: (account: AccountId, id: SegmentId, named: NamedSegment): Promise<SavedSegment> =>
      alone(account, async (rows, assertHeld) => {
        const before = found(rows, id);
        assertFree(
          rows.filter((row) => row !== before),
          named.name,
        );
        const saved = { segmentId: id, ...named };
        await assertHeld();
        await write(account, saved, before);
        return saved;
      }),

    /** Throws `not_found`. */
    delete: (account: AccountId, id: SegmentId): Promise<void> =>
      alone(account, async (rows, assertHeld) => {
        const before = found(rows, id);
        await assertHeld();
        await write(account, { segmentId: id, name: '', segment: '' }, before);
      }),
  };
}

const TOO_MANY = `The account has ${MOST_OF_ACCOUNT} saved segments, which is the most: delete one first.`;
const TAKEN = 'The account has a saved segment with this name.';

const asSaved = ({ segmentId, name, segment }: SegmentRow): SavedSegment => ({ segmentId, name, segment });

function found(rows: readonly SegmentRow[], id: SegmentId): SegmentRow {
  const row = rows.find(({ segmentId }) => segmentId === id);
  if (row === undefined) throw new AppError('not_found', `There is no saved segment ${id}.`);
  return row;
}

/** People tell names apart neither by case nor by how their characters are composed. */
const sameName = (one: string, other: string): boolean =>
  one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();

function assertFree(rows: readonly SegmentRow[], name: string): void {
  if (rows.some((row) => sameName(row.name, name))) throw wrongName(TAKEN);
}

const wrongName = (message: string): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', {
    errors: [{ field: 'name', message }],
  });
