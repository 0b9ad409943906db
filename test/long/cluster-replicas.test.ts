import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClusterLayout } from '../../src/clickhouse/cluster-layout.ts';
import { derived } from '../../src/clickhouse/cluster-schema.ts';
import { readMigrations } from '../../src/clickhouse/migrate.ts';
import { EMPTY, FIRST_SHARD, SHARDED } from '../../src/clickhouse/tables.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { startZooKeeper, type ZooKeeper } from '../support/zookeeper.ts';

/*
 * The replicated tables of a cluster, made against a real ZooKeeper. The engine has no port for other replicas, so the
 * tables stay read-only and nothing is replicated; but their definitions are checked and registered as on a server.
 */

const LAYOUT: ClusterLayout = {
  name: 'analytics',
  database: 'shop',
  count: 2,
  first: 2,
  isSpread: true,
  replicas: 2,
  weights: [1, 1],
};
const ON_CLUSTER = ' ON CLUSTER analytics';
const STATEMENTS = readMigrations().flatMap(({ statements }) =>
  statements.flatMap((sql) => derived(sql, LAYOUT)),
);

let zookeeper: ZooKeeper;
let bridge: BridgeProcess;
beforeAll(async () => {
  zookeeper = await startZooKeeper();
  bridge = await bridgeProcess(0, LAYOUT.name, String(zookeeper.port));
});
afterAll(async () => {
  await bridge?.close();
  await zookeeper?.close();
});

/** Returns the lines of the answer. */
async function run(sql: string): Promise<string[]> {
  const headers = { 'X-ClickHouse-User': bridge.username, 'X-ClickHouse-Key': bridge.password };
  const response = await fetch(bridge.url, { method: 'POST', headers, body: sql });
  const text = (await response.text()).trim();
  if (!response.ok) throw new Error(text);
  return text.split('\n');
}

test('the engine reads every statement for the whole cluster', async () => {
  for (const sql of STATEMENTS) {
    expect(sql).toContain(ON_CLUSTER);
    expect((await run(`EXPLAIN AST ${sql}`))[0], sql).toMatch(/^(Create|Alter|Drop)Query/);
  }
});

test('ZooKeeper takes every table, under the path of its shard', async () => {
  // A read-only table cannot be altered, so views would miss the columns that later migrations add.
  const creating = STATEMENTS.filter((sql) => sql.startsWith('CREATE TABLE'));
  for (const sql of ['CREATE DATABASE shop', 'CREATE DATABASE shop_shard', ...creating]) {
    await run(sql.replace(ON_CLUSTER, ''));
  }
  const expected = [
    ...[...SHARDED].filter((table) => !EMPTY.has(table)).map((table) => `shop_shard/${table}`),
    ...[...FIRST_SHARD].filter((table) => table !== 'schema_migrations').map((table) => `shop/${table}`),
  ].map((place) => `/clickhouse/tables/1/${place}\ta`);
  const replicas = await run('SELECT zookeeper_path, replica_name FROM system.replicas');
  expect(replicas.sort()).toEqual(expected.sort());
  // Read from ZooKeeper.
  const registered = 'SELECT DISTINCT total_replicas FROM system.replicas';
  expect(await run(registered)).toEqual(['1']);
});

test('a replica with other columns is refused', async () => {
  const other = `CREATE TABLE shop.other (app_id UUID, more UInt8)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/1/shop_shard/kept_sessions', 'b') ORDER BY app_id`;
  await expect(run(other)).rejects.toThrow(/INCOMPATIBLE_COLUMNS/);
});
