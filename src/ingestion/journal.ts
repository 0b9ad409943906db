import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type EpochMs, epochMs, MINUTE_MS } from '../domain/time.ts';

/** A batch by the two ids that make it one. */
export interface BatchKey {
  readonly app: string;
  readonly batch: string;
}

/** One insert into `events`, with the batches it holds. */
export interface Flush {
  readonly id: string;
  readonly batches: readonly BatchKey[];
  /** JSONEachRow text; '' when no event of its batches was accepted. */
  readonly payload: string;
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
  readonly flush: string;
  readonly createdAt: EpochMs;
}

export const batchKey = ({ app, batch }: BatchKey): string => `${app}:${batch}`;

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

/**
 * Claims count whether or not their flush is stored by now: one that was stored between the two halves of the question
 * would otherwise be in neither.
 */
const CLAIMS: Query<{ app: string; batch: string; flush: string; stored: number }> = {
  name: 'ingestion: claims',
  sql: `
    WITH mine AS (
      SELECT arrayJoin(batches) AS claim FROM ingest_journal
      WHERE flush_id = {flush:UUID} AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
    SELECT toString(app_id) AS app, toString(batch_id) AS batch, toString(flush_id) AS flush, 1 AS stored
    FROM ingest_batches
    WHERE (app_id, batch_id) IN (SELECT claim FROM mine) AND inserted_at >= now64(3) - INTERVAL 7 DAY
    UNION ALL
    SELECT toString(claim.1), toString(claim.2), toString(flush_id), 0
    FROM ingest_journal ARRAY JOIN batches AS claim
    WHERE created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND flush_id != {flush:UUID}
      AND claim IN (SELECT claim FROM mine)
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

const OPEN: Query<{ flush: string; createdAt: number }> = {
  name: 'ingestion: open flushes',
  sql: `
    SELECT toString(flush_id) AS flush, toUnixTimestamp64Milli(min(created_at)) AS createdAt
    FROM ingest_journal
    WHERE created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND created_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
      AND flush_id NOT IN (SELECT flush_id FROM ingest_batches
                           WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
      AND flush_id NOT IN (SELECT flush_id FROM ingest_verdicts WHERE verdict = 'abandon')
    GROUP BY flush_id
    ORDER BY createdAt, flush`,
  row: z.object({ flush: uuid, createdAt: z.number() }),
};

const FLUSH: Query<{ batches: [string, string][]; payload: string }> = {
  name: 'ingestion: read flush',
  sql: `
    SELECT arrayMap(claim -> [toString(claim.1), toString(claim.2)], batches) AS batches, payload
    FROM ingest_journal
    WHERE created_at >= fromUnixTimestamp64Milli({createdAt:Int64}, 'UTC') AND flush_id = {flush:UUID}
    LIMIT 1`,
  row: z.object({ batches: z.array(z.tuple([uuid, uuid])), payload: z.string() }),
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

export type Journal = ReturnType<typeof createJournal>;

/** The statements of exactly-once storing. Each may be sent again with the same arguments: it has one effect. */
export function createJournal(db: Database) {
  const token = (flush: string) => ({ token: flush }) as const;
  return {
    storeNow: async (): Promise<EpochMs> => epochMs((await db.queryOne(STORE_NOW, {}, WRITER)).now),

    claim: ({ id, batches, payload }: Flush): Promise<void> =>
      db.insert(
        'ingest_journal',
        [{ flush_id: id, batches: batches.map(({ app, batch }) => [app, batch]), payload }],
        token(id),
      ),

    /** Who else holds the batches of a journalled flush. `settled`: no older flush is open. */
    claims: async (flush: string, settled: EpochMs): Promise<Claim[]> => {
      const rows = await db.query(CLAIMS, { flush, since: Math.max(0, settled - MARGIN_MS) }, WRITER);
      return rows.map((row) => ({ key: batchKey(row), flush: row.flush, stored: row.stored === 1 }));
    },

    /** Proposes a verdict and returns the one that stands: the first that anybody proposed. */
    decide: async (flush: string, verdict: Verdict): Promise<Verdict> => {
      await db.insert('ingest_verdicts', [{ flush_id: flush, verdict }], token(flush));
      return (await db.queryOne(VERDICT, { flush }, WRITER)).verdict;
    },

    insertEvents: async ({ id, payload, batches }: Flush): Promise<void> => {
      if (payload === '') return;
      await db.insertText('events', payload, {
        ...token(id),
        about: [...new Set(batches.map(({ app }) => app))],
      });
    },

    isStored: async (flush: string, settled: EpochMs): Promise<boolean> =>
      (await db.queryOne(IS_STORED, { flush, since: Math.max(0, settled - MARGIN_MS) }, WRITER)).stored === 1,

    markStored: ({ id, batches }: Flush): Promise<void> =>
      db.insert(
        'ingest_batches',
        batches.map(({ app, batch }) => ({ app_id: app, batch_id: batch, flush_id: id })),
        token(id),
      ),

    /** Flushes written down in (settled, until] and neither stored nor abandoned, oldest first. */
    open: async (settled: EpochMs, until: EpochMs): Promise<OpenFlush[]> => {
      const rows = await db.query(OPEN, { since: Math.max(0, settled - MARGIN_MS), until }, WRITER);
      return rows.map(({ flush, createdAt }) => ({ flush, createdAt: epochMs(createdAt) }));
    },

    read: async ({ flush, createdAt }: OpenFlush): Promise<Flush> => {
      const { batches, payload } = await db.queryOne(FLUSH, { flush, createdAt }, WRITER);
      return { id: flush, batches: batches.map(([app, batch]) => ({ app, batch })), payload };
    },

    /** Takes a flush out of the journal that the store cannot read. */
    withdraw: (flush: string): Promise<void> =>
      db.command(
        'ingestion: withdraw flush',
        'ALTER TABLE ingest_journal DELETE WHERE flush_id = {flush:UUID} SETTINGS mutations_sync = 1',
        { flush },
      ),

    /** Forgets flushes older than `before`, all of them settled; verdicts go a day after. */
    forget: async (before: EpochMs): Promise<void> => {
      if ((await db.queryOne(OUTDATED, { before }, WRITER)).flushes === 0) return;
      await db.command('ingestion: forget journal', FORGET_JOURNAL, { before }, { lane: 'seal' });
      await db.command('ingestion: forget verdicts', FORGET_VERDICTS, { before }, { lane: 'seal' });
    },
  };
}
