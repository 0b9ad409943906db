import { z } from 'zod';
import { type Connections, connect, type Lane, type StoreLocation } from './connect.ts';
import { storeError } from './errors.ts';
import { Gate } from './gate.ts';
import { Writes } from './writes.ts';

/** A value bound to a typed `{name:Type}` place; times are epoch milliseconds in Int64 places. */
export type Param = string | number | boolean | readonly string[] | readonly number[];
export type Params = Readonly<Record<string, Param>>;

/** One SELECT: its name reaches logs and timings; every row is decoded here and nowhere else. */
export interface Query<Row> {
  readonly name: string;
  /** Without SETTINGS and FORMAT: both are added here. */
  readonly sql: string;
  readonly row: z.ZodType<Row>;
}

export interface InsertOptions {
  /** The same token again for the same table is a no-op there and in every view on it. */
  readonly token?: string;
  /** The apps whose answers it changes; of an insert into `events` all apps where absent, else none. */
  readonly about?: readonly string[];
}

export interface RunOptions {
  readonly lane?: Lane;
  readonly maxSeconds?: number;
  readonly maxMemoryBytes?: number;
  /** More than one only where there is much to read: small questions are answered faster by one. */
  readonly threads?: number;
  readonly signal?: AbortSignal;
}

/** What a statement cost. */
export interface StatementStats {
  readonly name: string;
  readonly ms: number;
}

export interface DatabaseOptions {
  readonly onStatement?: (stats: StatementStats) => void;
  readonly maxWaiting?: number;
  readonly maxWaitMs?: number;
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

const READ_SECONDS = 30;
const READ_MEMORY = 2 * 1024 ** 3;
const IDENTIFIER = /^[a-z][a-z0-9_]*$/;

/** Opens the store at `location`. Close it when done: the embedded engine locks its folder. */
export async function openDatabase(location: StoreLocation, options: DatabaseOptions = {}) {
  return new ClickHouseDatabase(await connect(location), options);
}

class ClickHouseDatabase {
  readonly #connections: Connections;
  readonly #gates: Record<Lane, Gate>;
  readonly #onStatement: (stats: StatementStats) => void;
  readonly #writes = new Writes();

  constructor(connections: Connections, options: DatabaseOptions) {
    this.#connections = connections;
    const { sizes } = connections;
    const gate = (lane: Lane) =>
      new Gate(sizes[lane], options.maxWaiting ?? 256, options.maxWaitMs ?? 10_000);
    this.#gates = { read: gate('read'), write: gate('write'), seal: gate('seal') };
    this.#onStatement = options.onStatement ?? (() => undefined);
  }

  /** True where this process is the only one on the store (embedded): in-process locks are enough. */
  get exclusive(): boolean {
    return this.#connections.exclusive;
  }

  /** All rows of a SELECT, decoded. Throws AppError (503) or, for a bug, the engine's error. */
  async query<Row>(query: Query<Row>, params: Params = {}, options: RunOptions = {}): Promise<Row[]> {
    const sql = `${query.sql}\nSETTINGS ${settings({
      max_execution_time: options.maxSeconds ?? READ_SECONDS,
      max_memory_usage: options.maxMemoryBytes ?? READ_MEMORY,
      output_format_json_quote_64bit_integers: 0,
      ...(options.threads === undefined ? {} : { max_threads: options.threads }),
    })}`;
    const rows = await this.#run(options.lane ?? 'read', query.name, async (client) => {
      const result = await client.query({
        query: sql,
        query_params: { ...params },
        format: 'JSONEachRow',
        ...(options.signal && this.#connections.cancels ? { abort_signal: options.signal } : {}),
      });
      return result.json<unknown>();
    });
    return z.array(query.row).parse(rows);
  }

  /** The single row of a SELECT that always has one (an aggregate without GROUP BY). */
  async queryOne<Row>(query: Query<Row>, params: Params = {}, options: RunOptions = {}): Promise<Row> {
    const [row] = await this.query(query, params, options);
    if (row === undefined) throw new Error(`${query.name}: no row`);
    return row;
  }

  /** Inserts rows (column name → value; times as epoch ms go in as `ms / 1000` strings, see `dateTime64`). */
  async insert(
    table: string,
    rows: readonly object[],
    options: InsertOptions & RunOptions = {},
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.insertText(table, rows.map((row) => JSON.stringify(row)).join('\n'), options);
  }

  /** Inserts ready JSONEachRow text, byte for byte: what a journal replays. */
  async insertText(
    table: string,
    jsonLines: string,
    options: InsertOptions & RunOptions = {},
  ): Promise<void> {
    if (!IDENTIFIER.test(table)) throw new Error(`not a table: ${table}`);
    const sql = `INSERT INTO ${table} SETTINGS ${settings({
      max_execution_time: options.maxSeconds ?? READ_SECONDS,
      max_partitions_per_insert_block: 0,
      async_insert: 0,
      ...(options.token === undefined
        ? // Without a token the engine would take equal blocks for one and the same insert.
          { deduplicate_insert: 'disable' }
        : {
            insert_deduplication_token: options.token,
            deduplicate_blocks_in_dependent_materialized_views: 1,
          }),
    })} FORMAT JSONEachRow`;
    const ended = this.#writes.begin(options.about ?? (table === 'events' ? undefined : []));
    try {
      await this.#run(options.lane ?? 'write', `insert ${table}`, async (client) => {
        const result = await client.exec({ query: sql, values: jsonLines as never });
        for await (const _ of result.stream);
      });
    } finally {
      ended();
    }
  }

  /**
   * The same number again means that nothing was written about the app between: what was read then holds now. Null while
   * something is being written, and always where other processes write too.
   */
  stamp(app: string): number | null {
    return this.exclusive ? this.#writes.stamp(app) : null;
  }

  /** A statement without a result: DDL, DELETE, INSERT … SELECT. `sql` carries its own SETTINGS. */
  async command(name: string, sql: string, params: Params = {}, options: RunOptions = {}): Promise<void> {
    await this.#run(options.lane ?? 'write', name, async (client) => {
      await client.command({ query: sql, query_params: { ...params } });
    });
  }

  /** Rejects with AppError `store_unavailable` or `overloaded` when the store does not answer. */
  async ping(): Promise<void> {
    await this.query(PING, {}, { maxSeconds: 5 });
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async #run<T>(
    lane: Lane,
    name: string,
    work: (client: ReturnType<Connections['at']>) => Promise<T>,
  ): Promise<T> {
    const gate = this.#gates[lane];
    const slot = await gate.enter();
    const started = performance.now();
    try {
      return await work(this.#connections.at(lane, slot));
    } catch (error) {
      throw storeError(error);
    } finally {
      gate.leave(slot);
      this.#onStatement({ name, ms: performance.now() - started });
    }
  }
}

const PING: Query<{ one: number }> = {
  name: 'ping',
  sql: 'SELECT 1 AS one',
  row: z.object({ one: z.number() }),
};

/** Settings go into the statement: on the embedded engine a SET would stay with the connection. */
function settings(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        `${name} = ${typeof value === 'number' ? value : `'${value.replace(/[\\']/g, '\\$&')}'`}`,
    )
    .join(', ');
}

/** An instant as a DateTime64(3) column takes it in JSON: `"1763622960.250"`. */
export const dateTime64 = (ms: number): string => {
  const sign = ms < 0 ? '-' : '';
  const abs = Math.abs(ms);
  return `${sign}${Math.floor(abs / 1000)}.${String(abs % 1000).padStart(3, '0')}`;
};
