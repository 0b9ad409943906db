import type { StoreLocation } from '../../src/clickhouse/connect.ts';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { FACT_KINDS } from '../../src/domain/fact-kinds.ts';
import { CUTS } from '../../src/facts/sql/cuts.ts';
import { embeddedPlace, newDatabase, type Place } from '../../src/testing/place.ts';
import { byChance } from './chance.ts';

/** A database for one test, removed by `close`. */
export interface TestStore {
  readonly location: StoreLocation;
  readonly db: Database;
  close(): Promise<void>;
}

/**
 * Opens a migrated, empty store: on the server at CLICKHOUSE_URL (set by hand, or the test run's container),
 * otherwise on the embedded engine in a temporary folder.
 */
export async function testStore(): Promise<TestStore> {
  const place = testLocation();
  try {
    return await openStore(place);
  } catch (error) {
    place.remove();
    throw error;
  }
}

/** The same on a server that the test has started itself. */
export async function serverStore(server: {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly cluster?: string;
}): Promise<TestStore> {
  return openStore({ location: serverLocation(server), remove: () => undefined });
}

/** Returns a place for a new database; nothing is opened. Call `remove` after the database was closed. */
export function testLocation(): Place {
  const url = process.env['CLICKHOUSE_URL'];
  if (url) {
    const username = process.env['CLICKHOUSE_USER'] ?? 'default';
    const password = process.env['CLICKHOUSE_PASSWORD'] ?? '';
    const cluster = process.env['CLICKHOUSE_CLUSTER'] ?? '';
    return { location: serverLocation({ url, username, password, cluster }), remove: () => undefined };
  }
  return embeddedPlace();
}

/** Returns settings with which a service uses the cluster of `npm run test:cluster`; otherwise none. */
export function clusterSettings(): Record<string, string> {
  const { CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_CLUSTER } = process.env;
  if (!CLICKHOUSE_URL || !CLICKHOUSE_USER || !CLICKHOUSE_PASSWORD || !CLICKHOUSE_CLUSTER) return {};
  return {
    CLICKHOUSE_URL,
    CLICKHOUSE_USER,
    CLICKHOUSE_PASSWORD,
    CLICKHOUSE_CLUSTER,
    CLICKHOUSE_DATABASE: newDatabase(),
    MANAGEMENT_JWT_SECRET: 'a-secret-of-the-tests-on-the-cluster',
  };
}

const serverLocation = (server: {
  url: string;
  username?: string;
  password?: string;
  cluster?: string;
}): StoreLocation => ({
  kind: 'server',
  url: server.url,
  username: server.username ?? 'default',
  password: server.password ?? '',
  database: newDatabase(),
  ...(server.cluster ? { cluster: { name: server.cluster } } : {}),
});

async function openStore({ location, remove }: Place): Promise<TestStore> {
  const db = await openDatabase(location);
  await migrate(db);
  await storeAsIfLarge(db);
  return {
    location,
    db,
    close: async () => {
      // The connections' own database comes last: no statement is accepted without it.
      for (const database of [db.shards.database, location.database]) {
        if (database === null) continue;
        await db.command('drop test database', sql`DROP DATABASE IF EXISTS ${identifier(database)} SYNC`);
      }
      await db.close();
      remove();
    },
  };
}

/** The tables that questions read most. */
const LARGE = new Set([
  'events',
  'sessions',
  ...FACT_KINDS.flatMap((kind) => CUTS[kind].map((cut) => cut.table)),
]);

/**
 * Has the engine keep a small store in the forms of a large one. It has code of its own for each of them.
 *
 * - Sparse: of a column that is 0 or '' in half of its rows, the other values alone.
 * - Wide, in every second store by chance: a file for each column, also in a part of a few rows.
 */
async function storeAsIfLarge(db: Database): Promise<void> {
  const wide = byChance(2) === 0 ? sql`, min_rows_for_wide_part = 0, min_bytes_for_wide_part = 0` : sql``;
  for (const table of LARGE) {
    await db.command(
      'store as if large',
      sql`ALTER TABLE ${db.shards.stored(table)} MODIFY SETTING ratio_of_defaults_for_sparse_serialization = 0.5${wide}`,
    );
  }
}
