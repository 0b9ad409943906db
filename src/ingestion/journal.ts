import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Database, dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import { BATCH_COLUMNS, EVENT_COLUMNS, eventsOfFlush, timesOfFlush } from './journal-rows.ts';
import {
  BEGUN_COLUMNS,
  begunRows,
  type HourCount,
  LEDGER_COLUMNS,
  ledgerLines,
  ledgerRows,
} from './ledger-rows.ts';
import { createRehearsal, type EventsRefusal } from './rehearsal.ts';

/** One insert into `events`, with the batches that it holds. All of its apps are on one shard. */
export interface Flush {
  readonly id: string;
  readonly batches: readonly BatchKey[];
  /** The hours of its events, each once. */
  readonly hours: readonly HourCount[];
  /** In the form of `journalRows`, at least one row for each batch. */
  readonly rows: readonly string[];
}

/** A batch that is stored, with the flush that stored it, and when it was marked. */
export interface StoredBatch extends BatchKey {
  readonly flush: string;
  readonly at: EpochMs;
}

export type Verdict = 'store' | 'abandon';

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

/** A flush that is not settled, found by a sweep. */
export interface OpenFlush {
  readonly id: string;
  /** One of its batches. All batches of a flush are marked together, so one is enough. */
  readonly batch: BatchKey;
  /** True if it was written with the verdict `store`. */
  readonly decided: boolean;
}

/** A pause that nobody ends lapses after this time, by the store's clock. */
export const PAUSE_SECONDS = 20;
const PAUSE_POLL_MS = 50;

/** The writer's lane, so that a queue of readers does not delay ingestion. */
const WRITER = { lane: 'write' } as const;

const uuid = z.string();

/** Returns a superset: combines every app with every batch. */
const STORED: Query<{ app: string; batch: string }> = {
  name: 'ingestion: stored batches',
  sql: sql`
    SELECT toString(app_id) AS app, toString(batch_id) AS batch FROM ingest_batches
    WHERE app_id IN {apps:Array(UUID)} AND batch_id IN {batches:Array(UUID)}`,
  row: z.object({ app: uuid, batch: uuid }),
};

const STORED_AFTER: Query<BatchKey> = {
  name: 'ingestion: batches that are remembered',
  sql: sql`
    SELECT toString(app_id) AS app, toString(batch_id) AS batch FROM ingest_batches
    WHERE app_id > {app:UUID} OR app_id = {app:UUID} AND batch_id > {batch:UUID}
    ORDER BY app_id, batch_id LIMIT {limit:UInt32}`,
  row: z.object({ app: uuid, batch: uuid }),
};
const FIRST: BatchKey = {
  app: '00000000-0000-0000-0000-000000000000',
  batch: '00000000-0000-0000-0000-000000000000',
};

/** Selects the batches of a flush, by the table's order or by its filter on batch ids. */
const MINE = sql`
    (app_id, batch_id) IN (SELECT app_id, batch_id FROM ingest_journal WHERE flush_id = {flush:UUID})
      AND batch_id IN (SELECT batch_id FROM ingest_journal WHERE flush_id = {flush:UUID})`;
const ClaimRow = z.object({ app: uuid, batch: uuid, flush: uuid });

/** Settled flushes count too while they are in the journal: see `claims`. */
const CLAIMED: Query<z.infer<typeof ClaimRow>> = {
  name: 'ingestion: claims',
  sql: sql`
    SELECT DISTINCT toString(app_id) AS app, toString(batch_id) AS batch, toString(flush_id) AS flush
    FROM ingest_journal
    WHERE ${MINE} AND flush_id != {flush:UUID}
      AND flush_id NOT IN (SELECT flush_id FROM ingest_verdicts WHERE verdict = 'abandon')`,
  row: ClaimRow,
};

const STORED_OF_FLUSH: Query<z.infer<typeof ClaimRow>> = {
  name: 'ingestion: stored batches of a flush',
  sql: sql`
    SELECT toString(app_id) AS app, toString(batch_id) AS batch, toString(flush_id) AS flush
    FROM ingest_batches WHERE ${MINE}`,
  row: ClaimRow,
};

/**
 * The verdict does not depend on time. `abandon` is written only if there is no verdict yet. If both exist,
 * `store` came too late.
 */
const STANDING = sql`multiIf(countIf(verdict = 'abandon') > 0, 'abandon', count() > 0, 'store', 'none') AS verdict`;
const verdict = z.enum(['store', 'abandon', 'none']);
const VERDICT: Query<{ verdict: Verdict | 'none' }> = {
  name: 'ingestion: verdict',
  sql: sql`SELECT ${STANDING} FROM ingest_verdicts WHERE flush_id = {flush:UUID}`,
  row: z.object({ verdict }),
};

const VERDICT_AND_PAUSES: Query<{ verdict: Verdict | 'none'; pauses: number }> = {
  name: 'ingestion: verdict and pauses',
  sql: sql`
    SELECT ${STANDING},
      (SELECT toUInt32(count()) FROM ingest_pauses FINAL
        WHERE ended = 0 AND abs(dateDiff('second', paused_at, now64(3))) < ${PAUSE_SECONDS}) AS pauses
    FROM ingest_verdicts WHERE flush_id = {flush:UUID}`,
  row: z.object({ verdict, pauses: z.number() }),
};

const IS_STORED: Query<{ stored: number }> = {
  name: 'ingestion: is stored',
  sql: sql`
    SELECT count() > 0 AS stored FROM ingest_batches
    WHERE app_id = {app:UUID} AND batch_id = {batch:UUID} AND flush_id = {flush:UUID}`,
  row: z.object({ stored: z.coerce.number() }),
};

const IS_WRITTEN: Query<{ written: number }> = {
  name: 'ingestion: is written down',
  sql: sql`SELECT count() > 0 AS written FROM ingest_journal WHERE flush_id = {flush:UUID}`,
  row: z.object({ written: z.coerce.number() }),
};

const BATCHES: Query<BatchKey> = {
  name: 'ingestion: batches of a flush',
  sql: sql`
    SELECT DISTINCT toString(app_id) AS app, toString(batch_id) AS batch
    FROM ingest_journal WHERE flush_id = {flush:UUID}`,
  row: z.object({ app: uuid, batch: uuid }),
};

/** Selects settled flushes. All batches of a flush are marked together, so one of them is enough. */
const SETTLED = sql`
    SELECT flush_id FROM ingest_verdicts WHERE verdict = 'abandon'
    UNION ALL
    SELECT flush_id FROM ingest_batches
    WHERE (app_id, batch_id) IN
      (SELECT one.1, one.2 FROM (SELECT any((app_id, batch_id)) AS one FROM ingest_journal GROUP BY flush_id))`;

const OPEN: Query<OpenFlush> = {
  name: 'ingestion: open flushes',
  sql: sql`
    SELECT toString(flush_id) AS id, max(decided) AS decided, any((app_id, batch_id)) AS one,
      toString(one.1) AS app, toString(one.2) AS batch
    FROM ingest_journal WHERE flush_id NOT IN (${SETTLED})
    GROUP BY flush_id ORDER BY id`,
  row: z
    .object({ id: uuid, decided: z.number(), app: uuid, batch: uuid })
    .transform(({ id, decided, app, batch }) => ({ id, batch: { app, batch }, decided: decided === 1 })),
};

/** Counts an app's flushes that are not settled. Until `until` the app's events are all stored if there are none. */
const UNSETTLED: Query<{ flushes: number; until: EpochMs }> = {
  name: 'ingestion: unsettled flushes of an app',
  sql: sql`SELECT toUnixTimestamp64Milli(now64(3)) AS until, toUInt32(uniqExact(flush_id)) AS flushes
    FROM ingest_journal WHERE app_id = {app:UUID} AND flush_id NOT IN (${SETTLED})`,
  row: z.object({ flushes: z.number(), until: z.number().transform(epochMs) }),
};

/** Flushes of which a part may be stored. One without a verdict is none of them. */
const UNDERWAY: Query<{ flushes: number; at: EpochMs }> = {
  name: 'ingestion: flushes underway',
  sql: sql`
    SELECT toUnixTimestamp64Milli(now64(3)) AS at, toUInt32(uniqExact(flush_id)) AS flushes FROM ingest_journal
    WHERE (decided = 1 OR flush_id IN (SELECT flush_id FROM ingest_verdicts))
      AND flush_id NOT IN (${SETTLED})`,
  row: z.object({ flushes: z.number(), at: z.number().transform(epochMs) }),
};

const OUTDATED: Query<{ rows: number }> = {
  name: 'ingestion: settled flushes',
  sql: sql`SELECT toUInt32(count()) AS rows FROM ingest_journal WHERE flush_id IN (${SETTLED})`,
  row: z.object({ rows: z.number() }),
};
const FORGET_JOURNAL = sql`ALTER TABLE ingest_journal DELETE WHERE flush_id IN (${SETTLED}) SETTINGS mutations_sync = 2`;
const FORGET_VERDICTS = sql`
  ALTER TABLE ingest_verdicts DELETE WHERE flush_id NOT IN (SELECT flush_id FROM ingest_journal)`;

const BATCHES_OF_FLUSHES = sql`
  SELECT DISTINCT app_id, batch_id, flush_id FROM ingest_journal WHERE flush_id IN {flushes:Array(UUID)}`;

export type Journal = ReturnType<typeof createJournal>;

/**
 * The statements of exactly-once storing. Each may be sent again with the same arguments and takes effect
 * once. No clock decides anything: a flush is found by its id, and is settled when it is stored or abandoned.
 */
export function createJournal(db: Database) {
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
  const insertBegun = (flush: string, sign: 1 | -1): Promise<void> => {
    const token = sign === 1 ? flush : `${flush} withdrawn`;
    return db.insertFrom(
      'ingest_begun',
      BEGUN_COLUMNS,
      begunRows(timesOfFlush()),
      { flush, sign },
      { token },
    );
  };
  return {
    /** Writes a flush down. `decided`: together with the verdict `store`. */
    claim: (flush: Flush, decided: boolean): Promise<void> =>
      db.insertText('ingest_journal', journalLines(flush, decided), { token: flush.id }),

    /** True if `claim` is refused because of the rows. */
    refusesClaim: async (flush: Flush): Promise<boolean> =>
      (await rehearsal.journal(journalLines(flush, false))) !== null,

    /** Finds the table that refuses a flush's events because of their content. */
    refusalOf: (flush: string): Promise<EventsRefusal> => rehearsal.events(flush),

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
      const claimOf = (isStored: boolean) => (row: z.infer<typeof ClaimRow>) => ({
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

    /** Records that a flush's events may be visible from now on, for other processes on the store. */
    begin: (flush: string): Promise<void> => insertBegun(flush, 1),

    /** Copies a flush's rows from the journal into `events`. */
    insertEvents: (flush: string): Promise<void> =>
      db.insertFrom('events', EVENT_COLUMNS, eventsOfFlush(), { flush }, { token: flush }),

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

    /** Returns the store's time if no flush with events of the app is unsettled, otherwise null. */
    quietAt: async (app: string): Promise<EpochMs | null> => {
      const { flushes, until } = await db.queryOne(UNSETTLED, { app }, WRITER);
      return flushes === 0 ? until : null;
    },

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

    /** Removes a flush from the journal whose rows `events` cannot take, and takes back its `begin`. */
    withdraw: async (flush: string): Promise<void> => {
      if (!db.exclusive) {
        await insertBegun(flush, 1);
        await insertBegun(flush, -1);
      }
      await db.command(
        'ingestion: withdraw flush',
        sql`ALTER TABLE ingest_journal DELETE WHERE flush_id = {flush:UUID} SETTINGS mutations_sync = 2`,
        { flush },
      );
    },

    /** Keeps flushes of all processes from getting the verdict `store` until `resume`, or until it lapses. */
    pause: async (): Promise<string> => {
      const pause = randomUUID();
      await db.insert('ingest_pauses', [{ pause_id: pause, ended: 0 }]);
      return pause;
    },

    resume: (pause: string): Promise<void> => db.insert('ingest_pauses', [{ pause_id: pause, ended: 1 }]),

    /** The number of flushes of which a part may be stored, at this moment by the store's clock. */
    underway: (): Promise<{ readonly flushes: number; readonly at: EpochMs }> =>
      db.queryOne(UNDERWAY, {}, WRITER),

    /** Deletes settled flushes from the journal, and then the verdicts of deleted flushes. */
    forget: async (): Promise<void> => {
      if ((await db.queryOne(OUTDATED, {}, WRITER)).rows === 0) return;
      await db.command('ingestion: forget journal', FORGET_JOURNAL, {}, { lane: 'seal' });
      await db.command('ingestion: forget verdicts', FORGET_VERDICTS, {}, { lane: 'seal' });
    },
  };
}

function journalLines({ id, rows }: Flush, decided: boolean): string {
  const head = `{"flush_id":"${id}","decided":${decided ? 1 : 0},"position":`;
  return rows.map((row, position) => `${head}${position},${row}`).join('\n');
}
