import { expect, test } from 'vitest';
import type { ClusterLayout } from '../../src/clickhouse/cluster-layout.ts';
import { derived } from '../../src/clickhouse/cluster-schema.ts';
import { readMigrations } from '../../src/clickhouse/migrate.ts';
import { drawn, ONE_SHARD, shardsOf } from '../../src/clickhouse/shards.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { FIRST_SHARD, SHARDED } from '../../src/clickhouse/tables.ts';

const LAYOUT: ClusterLayout = {
  name: 'analytics',
  database: 'shop',
  count: 3,
  first: 2,
  isSpread: true,
  replicas: 2,
  weights: [0, 0, 1],
};
const STATEMENTS = readMigrations().flatMap(({ statements }) => statements);

test('every table of the migrations lives in one place, and those of apps can be sharded', () => {
  const created = STATEMENTS.flatMap(
    (statement) => /^CREATE TABLE IF NOT EXISTS (\w+)(.*)/s.exec(statement)?.slice(1) ?? [],
  );
  const names = created.filter((_, i) => i % 2 === 0);
  const columns = new Map(names.map((name, i) => [name, created[i * 2 + 1] ?? '']));
  const placed = [...SHARDED, ...FIRST_SHARD].filter((name) => name !== 'schema_migrations');
  expect(placed.sort(), 'src/clickhouse/tables.ts').toEqual(names.sort());
  for (const name of SHARDED) expect(columns.get(name), name).toMatch(/^\s+app_id\s+UUID/m);
});

test('a table of apps becomes a replicated table on each shard, and a Distributed table before it', () => {
  const ledger = sql`CREATE TABLE IF NOT EXISTS ledger (app_id UUID)
ENGINE = AggregatingMergeTree
ORDER BY app_id
SETTINGS non_replicated_deduplication_window = 100, fsync_after_insert = 1`;
  expect(derived(ledger, LAYOUT)).toEqual([
    `CREATE TABLE IF NOT EXISTS shop_shard.ledger ON CLUSTER analytics (app_id UUID)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY app_id
SETTINGS replicated_deduplication_window = 100, replicated_deduplication_window_seconds = 2592000, fsync_after_insert = 1`,
    `CREATE OR REPLACE TABLE shop.ledger ON CLUSTER analytics AS shop_shard.ledger
ENGINE = Distributed(analytics, shop_shard, ledger, ${shardsOf(LAYOUT).sql})`,
  ]);
});

test('other tables are replicated, and keep their name and the arguments of their engine', () => {
  expect(
    derived(
      sql`CREATE TABLE IF NOT EXISTS apps (app_id UUID, version UInt64) ENGINE = ReplacingMergeTree(version) ORDER BY app_id`,
      LAYOUT,
    ),
  ).toEqual([
    "CREATE TABLE IF NOT EXISTS shop.apps ON CLUSTER analytics (app_id UUID, version UInt64) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version) ORDER BY app_id",
  ]);
});

test('a view is made where its tables are', () => {
  expect(
    derived(
      sql`CREATE MATERIALIZED VIEW IF NOT EXISTS v TO traffic AS SELECT 1 FROM events GROUP BY 1`,
      LAYOUT,
    ),
  ).toEqual([
    'CREATE MATERIALIZED VIEW IF NOT EXISTS shop_shard.v ON CLUSTER analytics TO shop_shard.traffic AS SELECT 1 FROM shop_shard.events GROUP BY 1',
  ]);
  expect(derived(sql`DROP VIEW IF EXISTS v`, LAYOUT)).toEqual([
    'DROP TABLE IF EXISTS shop_shard.v ON CLUSTER analytics',
  ]);
});

test('a new column comes to both tables of a name', () => {
  const [stored, before] = derived(sql`ALTER TABLE ledger ADD COLUMN IF NOT EXISTS a UInt8`, LAYOUT);
  expect(stored).toBe('ALTER TABLE shop_shard.ledger ON CLUSTER analytics ADD COLUMN IF NOT EXISTS a UInt8');
  expect(before).toMatch(
    /^CREATE OR REPLACE TABLE shop\.ledger ON CLUSTER analytics AS shop_shard\.ledger\n/,
  );
  expect(derived(sql`ALTER TABLE apps ADD COLUMN a UInt8`, LAYOUT)).toEqual([
    'ALTER TABLE shop.apps ON CLUSTER analytics ADD COLUMN a UInt8',
  ]);
});

test('a statement or a table without a rule is refused', () => {
  expect(() =>
    derived(sql`CREATE TABLE IF NOT EXISTS unheard (a UInt8) ENGINE = MergeTree ORDER BY a`, LAYOUT),
  ).toThrow('add it to src/clickhouse/tables.ts');
  expect(() => derived(sql`INSERT INTO apps SELECT 1`, LAYOUT)).toThrow('No rule says');
});

test('a server that is all nodes of its cluster needs neither ON CLUSTER nor replicas', () => {
  const all = STATEMENTS.flatMap((sql) => derived(sql, { ...LAYOUT, isSpread: false })).join('\n');
  expect(all).not.toMatch(/ON CLUSTER|Replicated/);
});

test('the id of a new app names a shard, drawn by weight', () => {
  const shards = shardsOf(LAYOUT);
  for (let i = 0; i < 100; i++) {
    const app = shards.newApp();
    expect(app).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8002-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(shards.of(app)).toBe(2);
  }
  expect([0, 0.24, 0.25, 0.99].map((at) => drawn([1, 0, 3], at))).toEqual([0, 0, 2, 2]);
});

test('other ids are spread over the shards that the cluster began with', () => {
  const shards = shardsOf(LAYOUT);
  expect(shards.of('00000000-0000-4000-8000-000000000003')).toBe(1);
  expect(shards.of('00000000-0000-4000-8000-000000000004')).toBe(0);
});

test('a store that is no cluster runs the migrations as they are written', () => {
  expect(STATEMENTS.flatMap(ONE_SHARD.derive)).toEqual(STATEMENTS);
  expect(ONE_SHARD.newApp()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
});
