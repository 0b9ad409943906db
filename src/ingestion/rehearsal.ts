import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { isOfContent } from '../clickhouse/errors.ts';
import { identifier, join, type Sql, sql, unchecked } from '../clickhouse/sql.ts';
import { sharingOf } from '../sharing/choose.ts';
import { BATCH_COLUMNS, EVENT_COLUMNS, EVENTS_OF_FLUSH, SENT_COLUMNS, timesOfFlush } from './journal-rows.ts';
import { BATCHES_OF_FLUSHES } from './journal-sql.ts';
import { LEDGER_COLUMNS, ledgerRows } from './ledger-rows.ts';

const VIEWS: Query<{ select: string; target: string; source: string }> = {
  name: 'ingestion: views on events',
  sql: sql`
    SELECT as_select AS select, extract(create_table_query, ' TO [^. ]+\\\\.([^ (]+)') AS target,
      concat(database, '.events') AS source
    FROM system.tables
    WHERE database = if({database:String} = '', currentDatabase(), {database:String}) AND engine = 'MaterializedView'
      AND match(as_select, concat('\\\\b', database, '\\\\.events\\\\b'))
    ORDER BY name`,
  row: z.object({ select: z.string(), target: z.string(), source: z.string() }),
};

/** The engine's error, or null if the rows are accepted. */
type Refusal = { readonly cause: unknown } | null;

/**
 * The table that refuses a flush: `events`, before it stores any, a view on it, after `events` has stored them, or a table
 * of another step.
 */
export type FlushRefusal = {
  readonly by: 'events' | 'view' | 'ingest_begun' | 'ledger' | 'ingest_batches';
  readonly cause: unknown;
} | null;

/**
 * Copies of tables that keep nothing. They have the same columns and constraints, but no disk, parts or
 * replicas.
 */
class Copies {
  readonly #db: Database;
  readonly #suffix = randomUUID().replaceAll('-', '');
  readonly #made: string[] = [];

  constructor(db: Database) {
    this.#db = db;
  }

  ofTable(table: string): Promise<string> {
    return this.#make(sql`TABLE`, sql`AS ${this.#db.shards.beside(table)} ENGINE = Null`);
  }

  /** The text of `select` is the engine's, of a view that a migration made. */
  ofView(select: string, target: string): Promise<string> {
    return this.#make(sql`MATERIALIZED VIEW`, sql`TO ${identifier(target)} AS ${unchecked(select)}`);
  }

  async drop(): Promise<void> {
    for (const copy of this.#made.reverse()) {
      const statement = sql`DROP TABLE IF EXISTS ${identifier(copy)} SYNC`;
      await this.#db.command('ingestion: end of a rehearsal', statement).catch(() => undefined);
    }
  }

  async #make(kind: Sql, definition: Sql): Promise<string> {
    const name = `rehearsal_${this.#made.length}_${this.#suffix}`;
    this.#made.push(name);
    await this.#db.command('ingestion: rehearsal', sql`CREATE ${kind} ${identifier(name)} ${definition}`);
    return name;
  }
}

/**
 * Finds out, without storing rows, whether they are refused because of their content. If a copy refuses them,
 * the table refuses them as a whole at any time. If the copy accepts them, something else is wrong. Rejects
 * if the trial itself fails.
 */
export function createRehearsal(db: Database) {
  async function withCopies<T>(work: (copies: Copies) => Promise<T>): Promise<T> {
    const copies = new Copies(db);
    try {
      return await work(copies);
    } finally {
      await copies.drop();
    }
  }

  /** Returns the error of an insert if its rows can be the reason, and throws any other. */
  async function refusalOf(insert: () => Promise<void>): Promise<Refusal> {
    try {
      await insert();
      return null;
    } catch (cause) {
      if (!isOfContent(cause)) throw cause;
      return { cause };
    }
  }

  /**
   * Returns the copy's refusal. It counts if it comes again after `good`, a statement of the same kind that the store has
   * to accept; otherwise the machine may be the reason.
   */
  async function refusal(good: () => Promise<void>, insert: () => Promise<void>): Promise<Refusal> {
    if ((await refusalOf(insert)) === null) return null;
    await good();
    return refusalOf(insert);
  }

  const nothingInto = (copy: string, column: string) => (): Promise<void> =>
    db.insertFrom(copy, [column], sql`SELECT ${identifier(column)} FROM ${identifier(copy)}`, {});

  /** Returns a statement that reads the rows of a flush as they are. */
  async function reading(copies: Copies, flush: string): Promise<() => Promise<void>> {
    const copy = await copies.ofTable('ingest_journal');
    const rows = sql`SELECT ${join(SENT_COLUMNS.map(identifier))} FROM ingest_journal WHERE flush_id = {flush:UUID}`;
    return () => db.insertFrom(copy, SENT_COLUMNS, rows, { flush });
  }

  return {
    /** Tries the rows of a flush, in the form in which `ingest_journal` gets them. */
    journal: (lines: string): Promise<Refusal> =>
      withCopies(async (copies) => {
        const copy = await copies.ofTable('ingest_journal');
        return refusal(nothingInto(copy, 'position'), () => db.insertText(copy, lines));
      }),

    /** Tries the events of a flush that is in the journal. */
    events: (flush: string): Promise<FlushRefusal> =>
      withCopies(async (copies) => {
        const good = await reading(copies, flush);
        const copy = await copies.ofTable('events');
        const insert = () =>
          refusal(good, () => db.insertFrom(copy, EVENT_COLUMNS, EVENTS_OF_FLUSH, { flush }));
        const alone = await insert();
        if (alone !== null) return { by: 'events', ...alone };
        const { database } = db.shards;
        const views = await db.query(VIEWS, { database: database ?? '' }, { lane: 'write' });
        for (const { select, target, source } of views) {
          await copies.ofView(select.replaceAll(source, copy), await copies.ofTable(target));
        }
        const withViews = await insert();
        return withViews === null ? null : { by: 'view', ...withViews };
      }),

    /** Tries the other steps of such a flush. */
    steps: (flush: string): Promise<FlushRefusal> =>
      withCopies(async (copies) => {
        const good = await reading(copies, flush);
        const times = timesOfFlush();
        const { countBegun } = sharingOf(db);
        const steps = {
          ingest_begun: (table: string) => countBegun(times, { flush, sign: 1 }, { table }),
          ledger: (table: string) => db.insertFrom(table, LEDGER_COLUMNS, ledgerRows(times), { flush }),
          ingest_batches: (table: string) =>
            db.insertFrom(table, BATCH_COLUMNS, BATCHES_OF_FLUSHES, { flushes: [flush] }),
        };
        for (const by of ['ingest_begun', 'ledger', 'ingest_batches'] as const) {
          const copy = await copies.ofTable(by);
          const refused = await refusal(good, () => steps[by](copy));
          if (refused !== null) return { by, ...refused };
        }
        return null;
      }),
  };
}
