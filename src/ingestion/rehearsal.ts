import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Database, Params, Query } from '../clickhouse/database.ts';
import { isOfContent } from '../clickhouse/errors.ts';
import { identifier, join, type Sql, sql, unchecked } from '../clickhouse/sql.ts';
import { sharingOf } from '../sharing/choose.ts';
import type { BatchKey } from './batch-key.ts';
import {
  BATCH_COLUMNS,
  type BatchRows,
  EVENT_COLUMNS,
  EVENTS_OF_FLUSH,
  SENT_COLUMNS,
  timesOfFlush,
} from './journal-rows.ts';
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

/** The engine's error, and the batches whose rows are the reason. Null if all rows are accepted. */
export type Refusal = { readonly cause: unknown; readonly batches: readonly BatchKey[] } | null;

/**
 * The table that refuses a flush: `events`, before it stores any, a view on it, after `events` has stored them, or a table
 * of another step.
 */
export type FlushRefusal =
  | ({
      readonly by: 'events' | 'view' | 'ingest_begun' | 'ledger' | 'ingest_batches';
    } & NonNullable<Refusal>)
  | null;

/** The most inserts that search for the batches that are the reason. If it takes more, all that are left are suspected. */
const MOST_SEARCHED = 100;

/** A flush with the number of rows of each batch. */
export interface TriedFlush {
  readonly id: string;
  readonly batches: readonly (BatchKey & { readonly rows: Pick<BatchRows['rows'], 'length'> })[];
}

/** A batch, and the place of its rows in its flush. */
interface Placed {
  readonly batch: BatchKey;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Inserts the rows of batches that follow each other in their flush. */
type Insert = (some: readonly Placed[]) => Promise<void>;

function placesOf({ batches }: TriedFlush): Placed[] {
  let to = 0;
  return batches.map(({ app, batch, rows }) => {
    const from = to;
    to += rows.length;
    return { batch: { app, batch }, from, to };
  });
}

/** For the condition that follows. */
const rangeOf = (some: readonly Placed[]) => ({ from: some[0]?.from ?? 0, to: some.at(-1)?.to ?? 0 });
const IN_RANGE = sql` AND position >= {from:UInt32} AND position < {to:UInt32}`;

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
  async function errorOf(insert: () => Promise<void>): Promise<{ readonly cause: unknown } | null> {
    try {
      await insert();
      return null;
    } catch (cause) {
      if (!isOfContent(cause)) throw cause;
      return { cause };
    }
  }

  /** Of batches that are refused together, returns those that are refused by themselves. */
  async function reasons(all: readonly Placed[], insert: Insert): Promise<readonly Placed[]> {
    let left = MOST_SEARCHED;
    const search = async (some: readonly Placed[]): Promise<readonly Placed[]> => {
      if (some.length < 2 || left-- <= 0) return some;
      const half = Math.ceil(some.length / 2);
      const [first, second] = [some.slice(0, half), some.slice(half)];
      if ((await errorOf(() => insert(first))) === null) return search(second);
      const found = await search(first);
      return (await errorOf(() => insert(second))) === null ? found : [...found, ...(await search(second))];
    };
    return search(all);
  }

  /**
   * Returns the copy's refusal. It counts if it comes again after `good`, a statement of the same kind that the store has
   * to accept; otherwise the machine may be the reason.
   */
  async function refusal(
    good: () => Promise<void>,
    insert: Insert,
    all: readonly Placed[],
  ): Promise<Refusal> {
    if ((await errorOf(() => insert(all))) === null) return null;
    await good();
    const error = await errorOf(() => insert(all));
    if (error === null) return null;
    // If the search fails, all of them count as the reason.
    const found = await reasons(all, insert).catch(() => all);
    return { ...error, batches: found.map(({ batch }) => batch) };
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
    /** Tries the rows of a flush. `lines`: in the form in which `ingest_journal` gets them, in order. */
    journal: (flush: TriedFlush, lines: readonly string[]): Promise<Refusal> =>
      withCopies(async (copies) => {
        const copy = await copies.ofTable('ingest_journal');
        const insert: Insert = (some) => {
          const { from, to } = rangeOf(some);
          return db.insertText(copy, lines.slice(from, to).join('\n'));
        };
        return refusal(nothingInto(copy, 'position'), insert, placesOf(flush));
      }),

    /** Tries the events of a flush that is in the journal. */
    events: (flush: TriedFlush): Promise<FlushRefusal> =>
      withCopies(async (copies) => {
        const { id } = flush;
        const good = await reading(copies, id);
        const copy = await copies.ofTable('events');
        const rows = sql`${EVENTS_OF_FLUSH}${IN_RANGE}`;
        const insert: Insert = (some) =>
          db.insertFrom(copy, EVENT_COLUMNS, rows, { flush: id, ...rangeOf(some) });
        const alone = await refusal(good, insert, placesOf(flush));
        if (alone !== null) return { by: 'events', ...alone };
        const { database } = db.shards;
        const views = await db.query(VIEWS, { database: database ?? '' }, { lane: 'write' });
        for (const { select, target, source } of views) {
          await copies.ofView(select.replaceAll(source, copy), await copies.ofTable(target));
        }
        const withViews = await refusal(good, insert, placesOf(flush));
        return withViews === null ? null : { by: 'view', ...withViews };
      }),

    /** Tries the other steps of such a flush. */
    steps: (flush: TriedFlush): Promise<FlushRefusal> =>
      withCopies(async (copies) => {
        const { id } = flush;
        const good = await reading(copies, id);
        const times = sql`${timesOfFlush()}${IN_RANGE}`;
        const { countBegun } = sharingOf(db);
        type Step = (table: string, params: Params) => Promise<void>;
        const steps: readonly (readonly ['ingest_begun' | 'ledger' | 'ingest_batches', Step])[] = [
          ['ingest_begun', (table, params) => countBegun(times, { ...params, sign: 1 }, { table })],
          ['ledger', (table, params) => db.insertFrom(table, LEDGER_COLUMNS, ledgerRows(times), params)],
          [
            'ingest_batches',
            (table, params) =>
              db.insertFrom(table, BATCH_COLUMNS, sql`${BATCHES_OF_FLUSHES}${IN_RANGE}`, params),
          ],
        ];
        for (const [by, step] of steps) {
          const copy = await copies.ofTable(by);
          const insert: Insert = (some) => step(copy, { flush: id, flushes: [id], ...rangeOf(some) });
          const refused = await refusal(good, insert, placesOf(flush));
          if (refused !== null) return { by, ...refused };
        }
        return null;
      }),
  };
}
