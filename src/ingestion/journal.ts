import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type EpochMs, epochMs, MINUTE_MS } from '../domain/time.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import { BATCH_COLUMNS, EVENT_COLUMNS, EVENTS_OF_FLUSH, TIMES_OF_FLUSH } from './journal-rows.ts';
import {
  BEGUN_COLUMNS,
  begunRows,
  type HourCount,
  LEDGER_COLUMNS,
  ledgerLines,
  ledgerRows,
} from './ledger-rows.ts';

/** One insert into `events`, with the batches it holds. */
export interface Flush {
  readonly id: string;
  readonly batches: readonly BatchKey[];
  /** Of its events, each once. */
  readonly hours: readonly HourCount[];
  /** As `journalRows` gives them; at least one for each batch. */
  readonly rows: readonly string[];
}

export type Verdict = 'store' | 'abandon';

/** A flush that holds one of the asked batches: another's, or our own completed by somebody else. */
export interface Claim {
  readonly key: string;
  readonly flush: string;
  /** Stored, not merely claimed. */
  readonly stored: boolean;
}

/** An unsettled flush as a sweep finds it. */
export interface OpenFlush {
  readonly id: string;
  readonly createdAt: EpochMs;
  /** It was written with the verdict `store`. */
  readonly decided: boolean;
}

/** Clocks of a store do not step back further than this. */
const MARGIN_MS = 5 * MINUTE_MS;
/** On the writer's lane: a queue of readers must not hold up ingestion. */
const WRITER = { lane: 'write' } as const;

const uuid = z.string();

const STORE_NOW: Query<{ now: number }> = {
  name: 'ingestion: store clock',
  sql: 'SELECT toUnixTimestamp64Milli(now64(3)) AS now',
  row: z.object({ now: z.number() }),
};

/** A superset: every app with every batch. */
const STORED: Query<{ app: string; batch: string }> = {
  name: 'ingestion: stored batches',
  sql: `
    SELECT toString(app_id) AS app, toString(batch_id) AS batch FROM ingest_batches
    WHERE app_id IN {apps:Array(UUID)} AND batch_id IN {batches:Array(UUID)}
      AND inserted_at >= now64(3) - INTERVAL 7 DAY`,
  row: z.object({ app: uuid, batch: uuid }),
};

const STORED_AFTER: Query<BatchKey> = {
  name: 'ingestion: batches of a week',
  sql: `
    SELECT toString(app_id) AS app, toString(batch_id) AS batch FROM ingest_batches
    WHERE inserted_at >= now64(3) - INTERVAL 7 DAY
      AND (app_id > {app:UUID} OR app_id = {app:UUID} AND batch_id > {batch:UUID})
    ORDER BY app_id, batch_id LIMIT {limit:UInt32}`,
  row: z.object({ app: uuid, batch: uuid }),
};
const FIRST: BatchKey = {
  app: '00000000-0000-0000-0000-000000000000',
  batch: '00000000-0000-0000-0000-000000000000',
};

/**
 * Claims count whether or not their flush is stored by now: one that was stored between the two halves of the question
 * would otherwise be in neither.
 */
const CLAIMS: Query<{ app: string; batch: string; flush: string; stored: number }> = {
  name: 'ingestion: claims',
  sql: `
    WITH mine AS (
      SELECT DISTINCT app_id, batch_id FROM ingest_journal
      WHERE flush_id = {flush:UUID} AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
    SELECT toString(app_id) AS app, toString(batch_id) AS batch, toString(flush_id) AS flush, 1 AS stored
    FROM ingest_batches
    WHERE (app_id, batch_id) IN mine AND inserted_at >= now64(3) - INTERVAL 7 DAY
    UNION ALL
    SELECT DISTINCT toString(app_id), toString(batch_id), toString(flush_id), 0
    FROM ingest_journal
    WHERE created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND flush_id != {flush:UUID}
      AND (app_id, batch_id) IN mine
      AND flush_id NOT IN (SELECT flush_id FROM ingest_verdicts WHERE verdict = 'abandon')`,
  row: z.object({ app: uuid, batch: uuid, flush: uuid, stored: z.number() }),
};

const VERDICT: Query<{ verdict: Verdict }> = {
  name: 'ingestion: verdict',
  sql: `SELECT toString(verdict) AS verdict FROM ingest_verdicts WHERE flush_id = {flush:UUID} ORDER BY decided_at LIMIT 1`,
  row: z.object({ verdict: z.enum(['store', 'abandon']) }),
};

const IS_STORED: Query<{ stored: number }> = {
  name: 'ingestion: is stored',
  sql: `
    SELECT count() > 0 AS stored FROM ingest_batches
    WHERE flush_id = {flush:UUID} AND inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
  row: z.object({ stored: z.coerce.number() }),
};

const OPEN: Query<{ id: string; createdAt: number; decided: number }> = {
  name: 'ingestion: open flushes',
  sql: `
    SELECT
      toString(flush_id) AS id,
      toUnixTimestamp64Milli(min(created_at)) AS createdAt,
      max(decided) AS decided
    FROM ingest_journal
    WHERE created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND created_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
      AND flush_id NOT IN (SELECT flush_id FROM ingest_batches
                           WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
      AND flush_id NOT IN (SELECT flush_id FROM ingest_verdicts WHERE verdict = 'abandon')
    GROUP BY flush_id
    ORDER BY createdAt, id`,
  row: z.object({ id: uuid, createdAt: z.number(), decided: z.number() }),
};

const OUTDATED: Query<{ flushes: number }> = {
  name: 'ingestion: outdated flushes',
  sql: `
    SELECT toUInt32(count()) AS flushes FROM ingest_journal
    WHERE created_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')`,
  row: z.object({ flushes: z.number() }),
};
const FORGET_JOURNAL = `
  ALTER TABLE ingest_journal DELETE WHERE created_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')`;
const FORGET_VERDICTS = `
  ALTER TABLE ingest_verdicts
  DELETE WHERE decided_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC') - INTERVAL 1 DAY`;

const BATCHES_OF_FLUSHES = `
  SELECT DISTINCT app_id, batch_id, flush_id FROM ingest_journal
  WHERE created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND flush_id IN {flushes:Array(UUID)}`;

export type Journal = ReturnType<typeof createJournal>;

/**
 * The statements of exactly-once storing. Each may be sent again with the same arguments: it has one effect. `settled`:
 * no flush that was written down before this instant is open, nor is any that is asked about.
 */
export function createJournal(db: Database) {
  const sinceOf = (settled: EpochMs): number => Math.max(0, settled - MARGIN_MS);
  const insertBegun = (flush: string, settled: EpochMs, sign: 1 | -1): Promise<void> =>
    db.insertFrom(
      'ingest_begun',
      BEGUN_COLUMNS,
      begunRows(TIMES_OF_FLUSH),
      { flush, since: sinceOf(settled), sign },
      { token: sign === 1 ? flush : `${flush} withdrawn` },
    );
  return {
    storeNow: async (): Promise<EpochMs> => epochMs((await db.queryOne(STORE_NOW, {}, WRITER)).now),

    /** Writes a flush down; `decided`: with the verdict `store`. */
    claim: ({ id, rows }: Flush, decided: boolean): Promise<void> => {
      const head = `{"flush_id":"${id}","decided":${decided ? 1 : 0},"position":`;
      const lines = rows.map((row, position) => `${head}${position},${row}`);
      return db.insertText('ingest_journal', lines.join('\n'), { token: id });
    },

    /** Which of these batches are stored, as `batchKey`. */
    storedOf: async (batches: readonly BatchKey[]): Promise<ReadonlySet<string>> => {
      const apps = [...new Set(batches.map(({ app }) => app))];
      const rows = await db.query(STORED, { apps, batches: batches.map(({ batch }) => batch) }, WRITER);
      return new Set(rows.map(batchKey));
    },

    /** Stored batches after `last`, in the order of the store. */
    storedAfter: (last: BatchKey | null, limit: number): Promise<BatchKey[]> =>
      db.query(STORED_AFTER, { ...(last ?? FIRST), limit }, { lane: 'lookup' }),

    /** Who else holds the batches of a journalled flush. */
    claims: async (flush: string, settled: EpochMs): Promise<Claim[]> => {
      const rows = await db.query(CLAIMS, { flush, since: sinceOf(settled) }, WRITER);
      return rows.map((row) => ({ key: batchKey(row), flush: row.flush, stored: row.stored === 1 }));
    },

    /** Proposes a verdict and returns the one that stands: the first that anybody proposed. */
    decide: async (flush: string, verdict: Verdict): Promise<Verdict> => {
      await db.insert('ingest_verdicts', [{ flush_id: flush, verdict }], { token: flush });
      return (await db.queryOne(VERDICT, { flush }, WRITER)).verdict;
    },

    /** Says, where several processes are on the store, that a flush's events may be visible from now on. */
    begin: (flush: string, settled: EpochMs): Promise<void> => insertBegun(flush, settled, 1),

    /** From the journal into `events`. */
    insertEvents: (flush: string, settled: EpochMs): Promise<void> => {
      const params = { flush, since: sinceOf(settled) };
      return db.insertFrom('events', EVENT_COLUMNS, EVENTS_OF_FLUSH, params, { token: flush });
    },

    /**
     * Says that all of a flush's events are visible, in every table: from now on answers have to count them. `hours`: those of the
     * flush; null where the journal has to say.
     */
    commit: (flush: string, settled: EpochMs, hours: readonly HourCount[] | null): Promise<void> => {
      if (hours !== null) {
        const about = [...new Set(hours.map(({ app }) => app))];
        return hours.length === 0
          ? Promise.resolve()
          : db.insertText('ledger', ledgerLines(hours), { token: flush, about });
      }
      const params = { flush, since: sinceOf(settled) };
      return db.insertFrom('ledger', LEDGER_COLUMNS, ledgerRows(TIMES_OF_FLUSH), params, { token: flush });
    },

    isStored: async (flush: string, settled: EpochMs): Promise<boolean> =>
      (await db.queryOne(IS_STORED, { flush, since: sinceOf(settled) }, WRITER)).stored === 1,

    /** `flushes`: always the same ones together, for their first is the token. */
    markStored: (flushes: readonly [string, ...string[]], settled: EpochMs): Promise<void> => {
      const params = { flushes, since: sinceOf(settled) };
      return db.insertFrom('ingest_batches', BATCH_COLUMNS, BATCHES_OF_FLUSHES, params, {
        token: flushes[0],
      });
    },

    /** Flushes written down in (settled, until] and neither stored nor abandoned, oldest first. */
    open: async (settled: EpochMs, until: EpochMs): Promise<OpenFlush[]> => {
      const rows = await db.query(OPEN, { since: sinceOf(settled), until }, WRITER);
      return rows.map((row) => ({ ...row, createdAt: epochMs(row.createdAt), decided: row.decided === 1 }));
    },

    /** Takes a flush out of the journal of which `events` cannot take the rows, and takes back what `begin` said of it. */
    withdraw: async (flush: string, settled: EpochMs): Promise<void> => {
      if (!db.exclusive) {
        await insertBegun(flush, settled, 1);
        await insertBegun(flush, settled, -1);
      }
      await db.command(
        'ingestion: withdraw flush',
        'ALTER TABLE ingest_journal DELETE WHERE flush_id = {flush:UUID} SETTINGS mutations_sync = 1',
        { flush },
      );
    },

    /** Forgets flushes older than `before`, all of them settled; verdicts go a day after. */
    forget: async (before: EpochMs): Promise<void> => {
      if ((await db.queryOne(OUTDATED, { before }, WRITER)).flushes === 0) return;
      await db.command('ingestion: forget journal', FORGET_JOURNAL, { before }, { lane: 'seal' });
      await db.command('ingestion: forget verdicts', FORGET_VERDICTS, { before }, { lane: 'seal' });
    },
  };
}
