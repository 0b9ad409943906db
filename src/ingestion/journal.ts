import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, dateTime64 } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { HourCount } from '../domain/hour-count.ts';
import type { EpochMs } from '../domain/time.ts';
import { sharingOf } from '../sharing/choose.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import {
  BATCH_COLUMNS,
  type BatchRows,
  EVENT_COLUMNS,
  EVENTS_OF_FLUSH,
  timesOfFlush,
} from './journal-rows.ts';
import {
  BATCHES,
  BATCHES_OF_FLUSHES,
  CLAIMED,
  type ClaimRow,
  FIRST,
  type FlushesAt,
  FORGET_JOURNAL,
  FORGET_VERDICTS,
  IS_STORED,
  IS_WRITTEN,
  OPEN,
  type OpenFlush,
  OUTDATED,
  STORED,
  STORED_AFTER,
  STORED_OF_FLUSH,
  UNDERWAY,
  UNSETTLED,
  VERDICT,
  VERDICT_AND_PAUSES,
  type Verdict,
} from './journal-sql.ts';
import { LEDGER_COLUMNS, ledgerLines, ledgerRows } from './ledger-rows.ts';
import { createRehearsal, type FlushRefusal, type Refusal, type TriedFlush } from './rehearsal.ts';

/** One insert into `events`, with the batches that it holds. All of its apps are on one shard. */
export interface Flush {
  readonly id: string;
  /** Each has at least one row. */
  readonly batches: readonly (BatchKey & Pick<BatchRows, 'rows'>)[];
  /** The hours of its events, each once. */
  readonly hours: readonly HourCount[];
}

/** A batch that is stored, with the flush that stored it, and when it was marked. */
export interface StoredBatch extends BatchKey {
  readonly flush: string;
  readonly at: EpochMs;
}

/**
 * A flush that holds one of the given batches: another process's flush, or our own if another process
 * completed it.
 */
export interface Claim {
  readonly key: string;
  readonly flush: string;
  /** True if the batch is stored, not merely claimed. */
  readonly stored: boolean;
}

const PAUSE_POLL_MS = 50;

/** The writer's lane, so that a queue of readers does not delay ingestion. */
const WRITER = { lane: 'write' } as const;

export type Journal = ReturnType<typeof createJournal>;

/**
 * The statements of exactly-once storing. Each may be sent again with the same arguments and takes effect
 * once. No clock decides anything: a flush is found by its id, and is settled when it is stored or abandoned.
 */
export function createJournal(db: Database) {
  const sharing = sharingOf(db);
  const rehearsal = createRehearsal(db);
  const verdictOf = async (flush: string): Promise<Verdict | 'none'> =>
    (await db.queryOne(VERDICT, { flush }, WRITER)).verdict;
  /** Resolves to a verdict; to 'none' once there is neither a verdict nor a pause. */
  const verdictAfterPauses = async (flush: string): Promise<Verdict | 'none'> => {
    for (;;) {
      const { verdict, pauses } = await db.queryOne(VERDICT_AND_PAUSES, { flush }, WRITER);
      if (verdict !== 'none' || pauses === 0) return verdict;
      await sleep(PAUSE_POLL_MS);
    }
  };
  const countBegun = (flush: string, sign: 1 | -1): Promise<void> => {
    const token = sign === 1 ? flush : `${flush} withdrawn`;
    return sharing.countBegun(timesOfFlush(), { flush, sign }, { token });
  };
  return {
    /** Writes a flush down. `decided`: together with the verdict `store`. */
    claim: (flush: Flush, decided: boolean): Promise<void> =>
      db.insertText('ingest_journal', journalLines(flush, decided).join('\n'), { token: flush.id }),

    /** Finds out whether `claim` is refused because of the rows. */
    refusalOfClaim: (flush: Flush): Promise<Refusal> => rehearsal.journal(flush, journalLines(flush, false)),

    /** Finds the table that refuses a flush's events because of their content: `events` or a view on it. */
    refusalOfEvents: (flush: Flush): Promise<FlushRefusal> => rehearsal.events(flush),

    /** Finds the table that refuses any other step of the flush because of its content. */
    refusalOfSteps: (flush: TriedFlush): Promise<FlushRefusal> => rehearsal.steps(flush),

    batchesOf: (flush: string): Promise<BatchKey[]> => db.query(BATCHES, { flush }, WRITER),

    /** Returns the stored ones of these batches, as `batchKey`. */
    storedOf: async (batches: readonly BatchKey[]): Promise<ReadonlySet<string>> => {
      const apps = [...new Set(batches.map(({ app }) => app))];
      const rows = await db.query(STORED, { apps, batches: batches.map(({ batch }) => batch) }, WRITER);
      return new Set(rows.map(batchKey));
    },

    /** Returns stored batches after `last`, in the order of the store. */
    storedAfter: (last: BatchKey | null, limit: number): Promise<BatchKey[]> =>
      db.query(STORED_AFTER, { ...(last ?? FIRST), limit }, { lane: 'lookup' }),

    /**
     * Finds other flushes that hold the batches of a journalled flush. The order matters: a flush that leaves
     * the journal between the two queries was marked before, and is found by its marks.
     */
    claims: async (flush: string): Promise<Claim[]> => {
      const claimed = await db.query(CLAIMED, { flush }, WRITER);
      const stored = await db.query(STORED_OF_FLUSH, { flush }, WRITER);
      const claimOf = (isStored: boolean) => (row: ClaimRow) => ({
        key: batchKey(row),
        flush: row.flush,
        stored: isStored,
      });
      return [...stored.map(claimOf(true)), ...claimed.map(claimOf(false))];
    },

    /**
     * Proposes a verdict if there is none, and returns the one that stands. A flush waits here while ingestion is
     * paused: nothing of it is stored yet.
     */
    decide: async (flush: string, verdict: Verdict): Promise<Verdict> => {
      const known = await (verdict === 'store' ? verdictAfterPauses(flush) : verdictOf(flush));
      if (known !== 'none') return known;
      await db.insert('ingest_verdicts', [{ flush_id: flush, verdict }], { token: flush });
      const standing = await verdictOf(flush);
      // The row is gone and only its token is left: the flush was settled long ago.
      return standing === 'none' ? 'abandon' : standing;
    },

    /**
     * Decides who ends a flush with the verdict `store`, if its owner is taken for dead: the owner withdraws it by `abandon`,
     * another process takes it over by `store`. The first proposal stands, and is returned.
     */
    decideAgain: async (flush: string, verdict: Verdict): Promise<Verdict> => {
      await db.insert('ingest_verdicts', [{ flush_id: flush, verdict }], { token: `${flush} again` });
      const standing = await verdictOf(flush);
      // The row is gone: the flush was settled long ago.
      return standing === 'none' ? 'abandon' : standing;
    },

    /** Tells other processes on the store that a flush's events may be visible from now on. */
    begin: (flush: string): Promise<void> => countBegun(flush, 1),

    /** Copies a flush's rows from the journal into `events`. */
    insertEvents: (flush: string): Promise<void> =>
      db.insertFrom('events', EVENT_COLUMNS, EVENTS_OF_FLUSH, { flush }, { token: flush }),

    /**
     * Records that all of a flush's events are visible in every table. From now on answers have to count
     * them. `hours`: those of the flush, or null to read them from the journal.
     */
    commit: async (flush: string, hours: readonly HourCount[] | null): Promise<void> => {
      const token = flush;
      if (hours === null) {
        return db.insertFrom('ledger', LEDGER_COLUMNS, ledgerRows(timesOfFlush()), { flush }, { token });
      }
      if (hours.length === 0) return;
      const about = [...new Set(hours.map(({ app }) => app))];
      await db.insertText('ledger', ledgerLines(hours), { token, about });
    },

    /** True if the flush is marked as stored. `batch`: one of its batches. */
    isStored: async (flush: string, { app, batch }: BatchKey): Promise<boolean> =>
      (await db.queryOne(IS_STORED, { flush, app, batch }, WRITER)).stored === 1,

    /** True if the flush's rows are in the journal. */
    isWritten: async (flush: string): Promise<boolean> =>
      (await db.queryOne(IS_WRITTEN, { flush }, WRITER)).written === 1,

    /**
     * Marks flushes as stored. A repetition needs the same flushes in the same order: the first one's id is
     * the token.
     */
    markStored: (flushes: readonly [string, ...string[]]): Promise<void> =>
      db.insertFrom('ingest_batches', BATCH_COLUMNS, BATCHES_OF_FLUSHES, { flushes }, { token: flushes[0] }),

    /** Marks batches of an imported app as stored, as another store marked them. */
    adopt: (batches: readonly StoredBatch[]): Promise<void> =>
      db.insert(
        'ingest_batches',
        batches.map(({ app, batch, flush, at }) => ({
          app_id: app,
          batch_id: batch,
          flush_id: flush,
          inserted_at: dateTime64(at),
        })),
      ),

    /** Returns flushes that are neither stored nor abandoned. */
    open: (): Promise<OpenFlush[]> => db.query(OPEN, {}, WRITER),

    /** Removes a flush from the journal whose rows the store cannot take, and takes back its `begin`, if there was one. */
    withdraw: async (flush: string, wasBegun = true): Promise<void> => {
      if (wasBegun) {
        await countBegun(flush, 1);
        await countBegun(flush, -1);
      }
      await db.command(
        'ingestion: withdraw flush',
        sql`ALTER TABLE ingest_journal DELETE WHERE flush_id = {flush:UUID} SETTINGS mutations_sync = 2`,
        { flush },
      );
    },

    /** The flushes with events of the app that are not settled. */
    unsettled: (app: string): Promise<FlushesAt> => db.queryOne(UNSETTLED, { app }, WRITER),

    /** The flushes of which a part may be stored, with events of one of these apps, or of any if none is named. */
    underway: (...apps: string[]): Promise<FlushesAt> => db.queryOne(UNDERWAY, { apps }, WRITER),

    /** Deletes settled flushes from the journal, and then the verdicts of deleted flushes. */
    forget: async (): Promise<void> => {
      if ((await db.queryOne(OUTDATED, {}, WRITER)).rows === 0) return;
      await db.command('ingestion: forget journal', FORGET_JOURNAL, {}, { lane: 'seal' });
      await db.command('ingestion: forget verdicts', FORGET_VERDICTS, {}, { lane: 'seal' });
    },
  };
}

function journalLines({ id, batches }: Flush, decided: boolean): string[] {
  const head = `{"flush_id":"${id}","decided":${decided ? 1 : 0},"position":`;
  return batches.flatMap(({ rows }) => rows).map((row, position) => `${head}${position},${row}`);
}
