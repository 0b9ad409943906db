import { randomUUID } from 'node:crypto';
import { currentCaller } from '../domain/caller.ts';
import { mapped } from '../domain/lists.ts';
import { type Answer, asObjects, readRows, type Values } from './answer.ts';
import { type AnswerText, textOf } from './answer-file.ts';
import { AnswerFiles } from './answer-files.ts';
import { type Client, type Connections, connect, LANES, type Lane, type StoreLocation } from './connect.ts';
import { OwnWrites, type Written } from './own-writes.ts';
import { number, type RowParser, rowOf } from './row.ts';
import { Runner, type Sending } from './runner.ts';
import { commentOf, type StatementStats } from './sent.ts';
import type { Settings } from './settings.ts';
import type { Shards } from './shards.ts';
import { identifier, join, type Sql, sql } from './sql.ts';
import { ONE_BLOCK, settingsOfInsert, settingsOfSelect } from './statement-settings.ts';

export type { StatementStats } from './sent.ts';

/** A value for a typed `{name:Type}` place. Times are epoch milliseconds in Int64 places. */
export type Param = string | number | boolean | readonly string[] | readonly number[];
export type Params = Readonly<Record<string, Param>>;

/** One SELECT. Its name reaches logs and timings. Its rows are decoded here and nowhere else. */
export interface Query<Row> {
  readonly name: string;
  /** The statement without SETTINGS and FORMAT: both are added here. */
  readonly sql: Sql;
  readonly row: RowParser<Row>;
}

export interface InsertOptions extends Written {
  /** A repeated token is a no-op, in the same table and in every view on it. */
  readonly token?: string;
}

export interface RunOptions {
  readonly lane?: Lane;
  readonly maxSeconds?: number;
  /** 2 GiB by default; for an answer that may be large, as little as it takes. */
  readonly maxMemoryBytes?: number;
  /**
   * Reads on all cores, for large scans. Small questions are faster on one core, and more of them run at
   * once.
   */
  readonly parallel?: boolean;
  /** Uses the table's index for the results of subqueries. Worth it if they select few of many rows. */
  readonly searches?: boolean;
  /** On a cluster, asks every shard. Without it, a statement that does not name its apps is an error there. */
  readonly everyShard?: boolean;
}

export interface DatabaseOptions {
  readonly onStatement?: (stats: StatementStats) => void;
  /** Called with the number of rows that a statement read, if the store reports it. */
  readonly onRowsRead?: (name: string, rows: number) => void;
}

/** Opens the store at `location`. Close it when done: the embedded engine locks its folder. */
export async function openDatabase(
  location: StoreLocation,
  options: DatabaseOptions = {},
): Promise<Database> {
  return new Database(await connect(location), options);
}

/** The statements of the service, see `openDatabase`. */
export class Database {
  readonly #connections: Connections;
  readonly #runner: Runner;
  readonly #options: DatabaseOptions;
  /** Null on a server. */
  readonly #files: AnswerFiles | null;
  /** The inserts of this process. */
  readonly own: OwnWrites;

  constructor(connections: Connections, options: DatabaseOptions) {
    this.#connections = connections;
    this.own = new OwnWrites(connections.kind === 'embedded');
    this.#runner = new Runner(connections, options.onStatement);
    this.#options = options;
    this.#files = connections.purge && new AnswerFiles(connections.purge);
  }

  /**
   * The number of questions that keep all readers busy. Most send several statements, but not all the time.
   */
  get questionsAtOnce(): number {
    return this.#connections.places.read * 1.5;
  }

  /** The number of statements that wait for a place, by lane. */
  get waiting(): Readonly<Record<Lane, number>> {
    return this.#runner.waiting;
  }

  /** True if a statement found no room on the disk within the last minute. */
  get isFull(): boolean {
    return this.#runner.isFull;
  }

  /** How the store's tables are spread; one shard unless the store is a cluster. */
  get shards(): Shards {
    return this.#connections.shards;
  }

  /** Where the engine runs: in this process, which is then alone on its store, or as a server. */
  get engine(): StoreLocation['kind'] {
    return this.#connections.kind;
  }

  /**
   * Returns all rows of a SELECT, decoded; never a part of them. Throws AppError (503) or, for a bug, the
   * engine's error. On the lane `read`, the statement counts for its caller (see `onBehalfOf`). If the store
   * can cancel, it ends when its caller has gone or its question ends (see `asQuestion`).
   */
  async query<Row>(query: Query<Row>, params: Params = {}, options: RunOptions = {}): Promise<Row[]> {
    return parsed(query, asObjects(await this.#select(query, params, options)));
  }

  /** Returns each row as a tuple of its columns, for answers of many rows. */
  async rows<Row extends readonly unknown[]>(
    query: Query<Row>,
    options: RunOptions = {},
    params: Params = {},
  ): Promise<Row[]> {
    const { rows } = await this.#select(query, params, options);
    return parsed(query, rows);
  }

  /**
   * Returns rows like `rows`, for an answer that may be large: its text is never in memory as a whole. Each iteration
   * of a large one decodes the rows anew.
   */
  async list<Row extends readonly unknown[]>(
    query: Query<Row>,
    options: RunOptions = {},
    params: Params = {},
  ): Promise<Iterable<Row>> {
    const { rows } = await this.#selectLarge<Iterable<Values>>(query, params, options, (text) => text.list());
    // All at once takes half as long as one after the other.
    if (Array.isArray(rows)) return parsed(query, rows);
    return mapped(rows, (values) => query.row.parse(values));
  }

  /** Returns rows like `rows`, or null if their text takes more than `bytes`. */
  async rowsUpTo<Row extends readonly unknown[]>(
    query: Query<Row>,
    bytes: number,
    options: RunOptions = {},
    params: Params = {},
  ): Promise<Row[] | null> {
    const { rows } = await this.#selectLarge<readonly Values[] | null>(
      query,
      params,
      options,
      async (text) => {
        if (text.size <= bytes) return text.rows();
        text.close();
        return { names: [], rows: null, rowsRead: undefined };
      },
    );
    return rows && parsed(query, rows);
  }

  #select(query: Query<unknown>, params: Params, options: RunOptions): Promise<Answer> {
    return this.#run(query, options, async (client, select, sending) => {
      const statement = { query: inJson(select({})), query_params: { ...params }, ...sending };
      const { stream } = await client.exec(statement);
      return readRows(stream, sending.abort_signal);
    });
  }

  #selectLarge<Rows>(
    query: Query<unknown>,
    params: Params,
    options: RunOptions,
    read: (text: AnswerText) => Promise<Answer<Rows>>,
  ): Promise<Answer<Rows>> {
    const files = this.#files;
    return this.#run(query, options, async (client, select, sending, seconds) => {
      const own = { query_params: { ...params }, ...sending };
      if (files !== null) {
        const limits = { seconds, bytes: options.maxMemoryBytes };
        return read(await files.text(client, select, limits, own));
      }
      const { stream } = await client.exec({ query: inJson(select({})), ...own });
      return read(await textOf(stream, sending.abort_signal));
    });
  }

  async #run<Rows>(
    query: Query<unknown>,
    options: RunOptions,
    work: (
      client: Client,
      select: (more: Settings) => Sql,
      sending: Sending,
      seconds: number,
    ) => Promise<Answer<Rows>>,
  ): Promise<Answer<Rows>> {
    const lane = options.lane ?? 'read';
    const id = randomUUID();
    const comment = commentOf({ id, name: query.name });
    const sent = { ...options, lane, comment, reach: this.#reach(options) };
    const text = (seconds: number, more: Settings) =>
      sql`${query.sql}\nSETTINGS ${settingsOfSelect({ ...sent, seconds }, more)}`;
    const seconds = options.maxSeconds ?? LANES[lane].seconds;
    const statement = { lane, name: query.name, seconds, id, isKilled: true };
    const answer = await this.#runner.run(statement, (client, sending, seconds) =>
      work(client, (more) => text(seconds, more), sending, seconds),
    );
    if (answer.rowsRead !== undefined) {
      currentCaller()?.onRowsRead?.(answer.rowsRead);
      this.#options.onRowsRead?.(query.name, answer.rowsRead);
    }
    return answer;
  }

  /** Returns the single row of a SELECT that always has one (an aggregate without GROUP BY). */
  async queryOne<Row>(query: Query<Row>, params: Params = {}, options: RunOptions = {}): Promise<Row> {
    const [row] = await this.query(query, params, options);
    if (row === undefined) throw new Error(`${query.name}: no row`);
    return row;
  }

  /** Inserts rows (column name → value). Pass times through `dateTime64`. */
  async insert(
    table: string,
    rows: readonly object[],
    options: InsertOptions & RunOptions = {},
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.insertText(table, rows.map((row) => JSON.stringify(row)).join('\n'), options);
  }

  /** Inserts ready JSONEachRow text, byte for byte, as a journal replays it. */
  async insertText(
    table: string,
    jsonLines: string,
    options: InsertOptions & RunOptions = {},
  ): Promise<void> {
    const text = (settings: Sql) =>
      sql`INSERT INTO ${identifier(table)} SETTINGS ${settings} FORMAT JSONEachRow`;
    await this.#insert(table, text, options, async (client, query, sending) => {
      const { stream } = await client.exec({ query, values: jsonLines as never, ...sending });
      sending.abort_signal?.addEventListener('abort', () => stream.destroy(), { once: true });
      for await (const _ of stream);
    });
  }

  /**
   * Inserts the result of `select` (without SETTINGS) in its order, as one block. Views are filled in
   * parallel.
   */
  async insertFrom(
    table: string,
    columns: readonly string[],
    select: Sql,
    params: Params,
    options: InsertOptions & RunOptions = {},
  ): Promise<void> {
    const into = sql`INSERT INTO ${identifier(table)} (${join(columns.map(identifier))})`;
    const text = (settings: Sql) =>
      sql`${into} ${select}\nSETTINGS ${settings}, ${ONE_BLOCK}, parallel_view_processing = 1`;
    await this.#insert(table, text, options, async (client, query, sending) => {
      await client.command({ query, query_params: { ...params }, ...sending });
    });
  }

  async #insert(
    table: string,
    text: (settings: Sql) => Sql,
    options: InsertOptions & RunOptions,
    work: (client: Client, statement: Sql, sending: Sending) => Promise<void>,
  ): Promise<void> {
    const lane = options.lane ?? 'write';
    const seconds = options.maxSeconds ?? LANES[lane].seconds;
    const [id, name] = [randomUUID(), `insert ${table}`];
    const sent = { comment: commentOf({ id, name }), seconds, reach: this.#reach(options) };
    const statement = text(settingsOfInsert(sent, options.token));
    const ended = this.own.begin(table, options);
    try {
      await this.#runner.run({ lane, name, seconds, id, isKilled: false }, (client, sending) =>
        work(client, statement, sending),
      );
    } finally {
      ended();
    }
  }

  /** Runs a statement without a result: DDL, DELETE, INSERT … SELECT. `statement` carries its own SETTINGS. */
  async command(name: string, statement: Sql, params: Params = {}, options: RunOptions = {}): Promise<void> {
    const lane = options.lane ?? 'write';
    const seconds = options.maxSeconds ?? LANES[lane].seconds;
    const id = randomUUID();
    // The embedded engine would keep the setting for the connection's next statements.
    const comment =
      this.#connections.kind === 'server'
        ? { clickhouse_settings: { log_comment: commentOf({ id, name }) } }
        : {};
    await this.#runner.run({ lane, name, seconds, id, isKilled: false }, async (client, sending) => {
      await client.command({ query: statement, query_params: { ...params }, ...comment, ...sending });
    });
  }

  /** Rejects with AppError `store_unavailable` or `overloaded` when the store does not answer. */
  async ping(): Promise<void> {
    await this.rows(PING, { lane: 'health' });
  }

  async close(): Promise<void> {
    await this.#files?.close();
    await this.#connections.close();
  }

  #reach({ everyShard }: RunOptions): Readonly<Record<string, number>> {
    return everyShard === true && this.shards.database !== null
      ? { force_optimize_skip_unused_shards: 0 }
      : {};
  }
}

/** Reads a file: of a store whose folder is gone, the engine still knows what is in memory. */
const PING: Query<readonly [number]> = {
  name: 'ping',
  sql: sql`SELECT version FROM schema_migrations LIMIT 1`,
  row: rowOf([number]),
};

const parsed = <Row>({ row }: Query<Row>, rows: readonly unknown[]): Row[] =>
  rows.map((values) => row.parse(values));

const inJson = (select: Sql): Sql => sql`${select}\nFORMAT JSONCompact`;

/**
 * An instant of 1970 to 2299 as JSON text for a DateTime64(3) column: `2026-11-20 07:16:00.250`. The engine reads a number
 * as one of seconds, of ms or of a day, by its count of digits.
 */
export const dateTime64 = (ms: number): string => {
  const text = new Date(ms).toISOString();
  if (text.length !== 24) throw new Error(`not an instant of the store: ${ms}`);
  return `${text.slice(0, 10)} ${text.slice(11, 23)}`;
};

/** A whole second as JSON text for a DateTime column: `2026-11-20 07:16:00`. */
export const dateTime = (ms: number): string => dateTime64(ms).slice(0, 19);
