import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client';
import { Session } from 'chdb';
import { createChdbConnection } from 'chdb/connection';

/** Where the data lives. The only file that knows which of the two it is. */
export type StoreLocation =
  | { readonly kind: 'embedded'; readonly dataDir: string; readonly database: string }
  | {
      readonly kind: 'server';
      readonly url: string;
      readonly username: string;
      readonly password: string;
      readonly database: string;
    };

/** Who asks: readers, the ingestion writer and the sealer never wait for each other. */
export type Lane = 'read' | 'write' | 'seal';

export interface Connections {
  /** How many statements the lane can run at once. */
  readonly sizes: Readonly<Record<Lane, number>>;
  /** `slot` is 0 … size-1 of the lane; a caller holds it for one statement at a time. */
  at(lane: Lane, slot: number): ClickHouseClient;
  /** False on the embedded engine: an aborted statement runs on and its slot stays busy. */
  readonly cancels: boolean;
  /** True where this process is the only one on the store. */
  readonly exclusive: boolean;
  close(): Promise<void>;
}

const EMBEDDED_SIZES = { read: 4, write: 2, seal: 1 } as const;
const SERVER_SIZES = { read: 16, write: 4, seal: 2 } as const;
const DATABASE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Opens the store and creates its database. Throws what the engine or the network says. */
export async function connect(location: StoreLocation): Promise<Connections> {
  if (!DATABASE_NAME.test(location.database)) throw new Error(`not a database name: ${location.database}`);
  return location.kind === 'embedded' ? connectEmbedded(location) : connectServer(location);
}

/**
 * The engine binds one data folder per process, and one connection runs one statement at a time: so a
 * small pool of connections to the same folder. UV_THREADPOOL_SIZE must exceed the pool (each running
 * statement holds a thread).
 */
async function connectEmbedded(location: StoreLocation & { kind: 'embedded' }): Promise<Connections> {
  const path = resolve(location.dataDir, 'clickhouse');
  mkdirSync(path, { recursive: true });
  const engine = new Session(path);
  const open = async (): Promise<ClickHouseClient> => {
    const client = createClient({ connection: embeddedConnection(path) });
    // The `database` option is ignored here; USE stays with the connection.
    await client.command({ query: `USE ${location.database}` });
    return client;
  };
  const first = createClient({ connection: embeddedConnection(path) });
  await first.command({ query: `CREATE DATABASE IF NOT EXISTS ${location.database}` });
  await first.close();
  const lanes: Record<Lane, ClickHouseClient[]> = { read: [], write: [], seal: [] };
  for (const lane of Object.keys(EMBEDDED_SIZES) as Lane[]) {
    for (let i = 0; i < EMBEDDED_SIZES[lane]; i++) lanes[lane].push(await open());
  }
  return {
    sizes: EMBEDDED_SIZES,
    at: (lane, slot) => pick(lanes[lane], slot),
    cancels: false,
    exclusive: true,
    close: async () => {
      await Promise.all(Object.values(lanes).flatMap((clients) => clients.map((client) => client.close())));
      engine.close();
    },
  };
}

/** The two packages agree but for exactOptionalPropertyTypes, hence the cast. */
const embeddedConnection = (path: string): NonNullable<ClickHouseClientConfigOptions['connection']> =>
  createChdbConnection({ path }) as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>;

async function connectServer(location: StoreLocation & { kind: 'server' }): Promise<Connections> {
  const access = {
    url: location.url,
    username: location.username,
    password: location.password,
    // It would print statements past our log; what fails is thrown anyway.
    log: { level: ClickHouseLogLevel.OFF },
  };
  const first = createClient({ ...access, request_timeout: 10_000 });
  try {
    await first.command({ query: `CREATE DATABASE IF NOT EXISTS ${location.database}` });
  } finally {
    await first.close();
  }
  const open = (lane: Lane): ClickHouseClient =>
    createClient({
      ...access,
      database: location.database,
      max_open_connections: SERVER_SIZES[lane],
      // Longer than any statement may run (max_execution_time): the server's own error comes first.
      request_timeout: lane === 'seal' ? 900_000 : 45_000,
      application: 'session-analytics',
      compression: { request: false, response: false },
      keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    });
  const lanes: Record<Lane, ClickHouseClient> = {
    read: open('read'),
    write: open('write'),
    seal: open('seal'),
  };
  return {
    sizes: SERVER_SIZES,
    at: (lane) => lanes[lane],
    cancels: true,
    exclusive: false,
    close: async () => {
      await Promise.all(Object.values(lanes).map((client) => client.close()));
    },
  };
}

function pick(clients: readonly ClickHouseClient[], slot: number): ClickHouseClient {
  const client = clients[slot];
  if (client === undefined) throw new Error(`no connection in slot ${slot}`);
  return client;
}
