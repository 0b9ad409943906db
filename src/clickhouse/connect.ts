import { chmodSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  type CommandParams,
  createClient,
  type ExecParams,
} from '@clickhouse/client';
import type { createChdbConnection } from 'chdb/connection';
import { AppError } from '../domain/errors.ts';
import { codeOf, messageOf } from '../domain/thrown.ts';
import { makeFolder, OWN_FOLDER } from '../make-folder.ts';
import { type ClusterChoice, clusterSettings, openCluster } from './cluster.ts';
import type { ClusterLayout } from './cluster-layout.ts';
import { closeAtExit } from './engine-exit.ts';
import { ONE_SHARD, type Shards, shardsOf } from './shards.ts';
import { identifier, type Sql, sql } from './sql.ts';
import { MOST_TEXT_BYTES, withValues } from './values.ts';

/** The place of the data. No other file knows which of the two it is. */
export type StoreLocation =
  | { readonly kind: 'embedded'; readonly dataDir: string; readonly database: string }
  | {
      readonly kind: 'server';
      readonly url: string;
      readonly username: string;
      readonly password: string;
      readonly database: string;
      /** Absent: the server is none, or one that spreads its data by itself. */
      readonly cluster?: ClusterChoice;
    };

/**
 * The purpose of a statement: a reader's question, a look-up that every request needs, health, writes of
 * ingestion, or sealing. Statements of one lane never wait for another lane.
 */
export type Lane = 'read' | 'lookup' | 'health' | 'write' | 'seal';

/** The number of statements of a lane that run at once, and a statement's default limits. */
export const LANES = {
  read: { places: { embedded: 4, server: 16 }, seconds: 15, memory: 2 * 1024 ** 3 },
  // One more on a server, for the poll for changes: it blocks nobody while the store hangs.
  lookup: { places: { embedded: 2, server: 5 }, seconds: 4, memory: 1024 ** 3 },
  health: { places: { embedded: 1, server: 1 }, seconds: 2, memory: 1024 ** 3 },
  write: { places: { embedded: 3, server: 4 }, seconds: 30, memory: 4 * 1024 ** 3 },
  seal: { places: { embedded: 1, server: 2 }, seconds: 900, memory: 8 * 1024 ** 3 },
} as const;
export const LANE_NAMES = Object.keys(LANES) as Lane[];

/** A connection. The compiler refuses a statement that is no SQL. */
export interface Client {
  command(params: CommandParams & OfSql): Promise<unknown>;
  exec(params: ExecParams & OfSql & { readonly values?: Readable }): Promise<{ readonly stream: Readable }>;
}

interface OfSql {
  readonly query: Sql;
}

export interface Connections {
  readonly kind: StoreLocation['kind'];
  /** The number of places of each lane: the statements of it that run at once. */
  readonly places: Readonly<Record<Lane, number>>;
  /** The client of a place, 0 … places-1. A caller holds a place for one statement at a time. */
  at(lane: Lane, place: number): Client;
  /** Cleans up after a failed statement. Call it before another statement uses the place. */
  clear(lane: Lane, place: number): Promise<void>;
  /** Ends a running statement in the background, if the store can. */
  kill(queryId: string): void;
  /** False on the embedded engine: an aborted statement runs on and its place stays busy. */
  readonly cancels: boolean;
  readonly shards: Shards;
  /** Gives back the memory that the engine has freed. Null on a server, which is a process of its own. */
  readonly purge: (() => Promise<unknown>) | null;
  close(): Promise<void>;
}

/** For each further shard: a flush and one that another process left behind. While it is away, both may wait. */
const WRITES_PER_SHARD = 2;

function placesOf(kind: StoreLocation['kind'], shards: number): Readonly<Record<Lane, number>> {
  const of = (lane: Lane): number => LANES[lane].places[kind];
  return {
    read: of('read'),
    lookup: of('lookup'),
    health: of('health'),
    write: of('write') + WRITES_PER_SHARD * (shards - 1),
    seal: of('seal'),
  };
}

/** The most statements that are being killed at once, so that they do not pile up while a store hangs. */
const MAX_KILLS = 16;
const KILL_MS = 2_000;
const OPENING_MS = 10_000;
const ENGINE_CONFIG = fileURLToPath(new URL('../../clickhouse/engine.xml', import.meta.url));
const DATABASE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * Most statements of the embedded engine are small. The threads that would format and parse their text and read their
 * files, which are on this machine, cost more than they save: a tenth of a statement's processor time.
 */
const FEW_THREADS = sql`output_format_parallel_formatting = 0, input_format_parallel_parsing = 0, local_filesystem_read_method = 'pread'`;
/** Compiling expressions costs a second of a processor after each start, and questions gain nothing from it. */
const NO_COMPILER = sql`compile_expressions = 0, compile_aggregate_expressions = 0, compile_sort_description = 0`;

/** Opens the store and creates its database. Throws the engine's or the network's own error. */
export async function connect(location: StoreLocation): Promise<Connections> {
  if (!DATABASE_NAME.test(location.database)) throw new Error(`not a database name: ${location.database}`);
  return location.kind === 'embedded' ? connectEmbedded(location) : connectServer(location);
}

/** Keeps other users out of a store that an earlier version made. A folder of another owner stays as it is. */
function closeToOthers(folder: string): void {
  try {
    chmodSync(folder, OWN_FOLDER);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
  }
}

/**
 * Connects to the embedded engine. It binds one data folder per process, and one connection runs one
 * statement at a time. Hence a small pool of connections to the same folder. UV_THREADPOOL_SIZE must exceed
 * the pool: each running statement holds a thread.
 */
async function connectEmbedded(location: StoreLocation & { kind: 'embedded' }): Promise<Connections> {
  const path = resolve(location.dataDir, 'clickhouse');
  makeFolder(path);
  closeToOthers(path);
  const { Session, createChdbConnection } = await loadEngine();
  closeAtExit();
  const connection = embeddedConnection(createChdbConnection, path);
  // The first one in the process decides with which settings the engine starts.
  const engine = new Session(path, { connectionArgs: [`--config-file=${ENGINE_CONFIG}`] });
  const open = async (lane: Lane): Promise<LaneClient> => {
    const client = createClient({ connection: connection() });
    // The `database` option is ignored here. USE and SET last as long as the connection: they are the lane's
    // settings profile.
    await client.command({ query: sql`USE ${identifier(location.database)}` });
    // Sealing reads the most rows, and keeps the compiler.
    const own = lane === 'seal' ? FEW_THREADS : sql`${FEW_THREADS}, ${NO_COMPILER}`;
    await client.command({
      query: sql`SET max_execution_time = ${LANES[lane].seconds}, max_memory_usage = ${LANES[lane].memory}, max_query_size = ${MOST_TEXT_BYTES}, ${own}`,
    });
    return withoutBinding(client);
  };
  const first = createClient({ connection: connection() });
  await first.command({ query: sql`CREATE DATABASE IF NOT EXISTS ${identifier(location.database)}` });
  await first.close();
  const lanes: Record<Lane, LaneClient[]> = { read: [], lookup: [], health: [], write: [], seal: [] };
  for (const lane of LANE_NAMES) {
    for (let i = 0; i < LANES[lane].places.embedded; i++) lanes[lane].push(await open(lane));
  }
  const purging = createClient({ connection: connection() });
  return {
    kind: 'embedded',
    places: placesOf('embedded', 1),
    at: (lane, place) => {
      assertThere(path);
      return pick(lanes[lane], place);
    },
    // A failed statement may leave partial output, which would come out in front of the next answer: possibly
    // another caller's. A statement without output discards it.
    clear: (lane, place) =>
      pick(lanes[lane], place)
        .command({ query: sql`SELECT 1 FORMAT Null` })
        .then(() => undefined)
        .catch(() => undefined),
    kill: () => undefined,
    cancels: false,
    shards: ONE_SHARD,
    purge: () => purging.command({ query: sql`SYSTEM JEMALLOC PURGE` }),
    close: async () => {
      const clients = [purging, ...Object.values(lanes).flat()];
      await Promise.all(clients.map((client) => client.close()));
      engine.close();
    },
  };
}

/**
 * Throws AppError if somebody has deleted or moved the store's files. The engine would make new folders for new rows, and
 * the next start would not find them.
 */
function assertThere(path: string): void {
  if (existsSync(join(path, 'metadata'))) return;
  throw new AppError('store_unavailable', 'The store does not answer. Try again shortly.', {
    forOperator: `The files of the store in ${path} are gone. Stop the service, and put them back or restore a backup.`,
    retryAfterSeconds: 30,
  });
}

type LaneClient = Client & Pick<ClickHouseClient, 'close'>;

/** The same client, which puts values into the text of statements. */
const withoutBinding = (client: ClickHouseClient): LaneClient => ({
  command: ({ query, query_params = {}, ...others }) =>
    client.command({ ...others, query: withValues(query, query_params) }),
  exec: ({ query, query_params = {}, ...others }) =>
    client.exec({ ...others, query: withValues(query, query_params) }),
  close: () => client.close(),
});

/** The optional package of the embedded engine is missing, or does not run here. */
export class EngineUnusable extends Error {
  override readonly name = 'EngineUnusable';

  constructor(cause: unknown) {
    const code = codeOf(cause);
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    const reason = isMissing
      ? 'is not installed. Install the optional packages (npm install --include=optional)'
      : `cannot be loaded: ${messageOf(cause)}. Use a system that it runs on`;
    super(`The embedded engine, the package chdb, ${reason}, or set CLICKHOUSE_URL to a ClickHouse server.`, {
      cause,
    });
  }
}

/** Loads the engine, an optional package: a service with a ClickHouse server does not need its 600 MB. */
async function loadEngine() {
  try {
    const [{ Session }, { createChdbConnection }] = await Promise.all([
      import('chdb'),
      import('chdb/connection'),
    ]);
    return { Session, createChdbConnection };
  } catch (error) {
    throw new EngineUnusable(error);
  }
}

/** Returns a maker of connections. Casts, because the two packages differ in exactOptionalPropertyTypes only. */
const embeddedConnection = (make: typeof createChdbConnection, path: string) => () =>
  make({ path }) as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>;

async function connectServer(location: StoreLocation & { kind: 'server' }): Promise<Connections> {
  const access = {
    url: location.url,
    username: location.username,
    password: location.password,
    // The client's log would print statements outside ours. Failures are thrown anyway.
    log: { level: ClickHouseLogLevel.OFF },
  };
  const layout = await createDatabases(createClient({ ...access, request_timeout: OPENING_MS }), location);
  const clientOf = (connections: number, seconds: number): ClickHouseClient =>
    createClient({
      ...access,
      database: location.database,
      max_open_connections: connections,
      // The longest silence. Each statement's own deadline comes first.
      request_timeout: (seconds + 5) * 1000,
      application: 'session-analytics',
      compression: { request: false, response: false },
      keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
      clickhouse_settings: {
        max_query_size: `${MOST_TEXT_BYTES}`,
        ...(layout === null ? {} : clusterSettings(layout)),
      },
    });
  const shards = layout === null ? ONE_SHARD : shardsOf(layout);
  const places = placesOf('server', shards.count);
  const open = (lane: Lane): ClickHouseClient => clientOf(places[lane], LANES[lane].seconds);
  const lanes: Record<Lane, ClickHouseClient> = {
    read: open('read'),
    lookup: open('lookup'),
    health: open('health'),
    write: open('write'),
    seal: open('seal'),
  };
  // KILL has connections and a deadline of its own: if statements hang, KILL may hang too, and must block
  // nobody.
  const ending = clientOf(MAX_KILLS, KILL_MS / 1000);
  let kills = 0;
  return {
    kind: 'server',
    places,
    at: (lane) => lanes[lane],
    clear: async () => undefined,
    kill: (id) => {
      if (kills >= MAX_KILLS) return;
      kills++;
      // Closing the connection does not end a statement by default. If KILL fails, the statement ends by its
      // own limits.
      ending
        .command({
          query: sql`KILL QUERY WHERE query_id = {id:String} ASYNC`,
          query_params: { id },
          abort_signal: AbortSignal.timeout(KILL_MS),
        })
        .catch(() => undefined)
        .finally(() => {
          kills--;
        });
    },
    cancels: true,
    shards,
    purge: null,
    close: async () => {
      await Promise.all([ending, ...Object.values(lanes)].map((client) => client.close()));
    },
  };
}

/** Returns the layout of the cluster, if the server is one. Closes the client. */
async function createDatabases(
  client: ClickHouseClient,
  { database, cluster }: StoreLocation & { kind: 'server' },
): Promise<ClusterLayout | null> {
  const run = async (query: Sql): Promise<void> => void (await client.command({ query }));
  const rows = async (query: Sql): Promise<unknown[]> =>
    (await client.query({ query, format: 'JSONEachRow' })).json();
  try {
    if (cluster !== undefined) return await openCluster({ rows, run }, cluster, database);
    await run(sql`CREATE DATABASE IF NOT EXISTS ${identifier(database)}`);
    return null;
  } finally {
    await client.close();
  }
}

function pick(clients: readonly LaneClient[], place: number): LaneClient {
  const client = clients[place];
  if (client === undefined) throw new Error(`no connection at place ${place}`);
  return client;
}
