import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterSettings } from '../../src/clickhouse/cluster.ts';
import { shardDatabase, shardSql } from '../../src/clickhouse/cluster-layout.ts';
import { FIRST_SHARD, SHARDED } from '../../src/clickhouse/tables.ts';

/**
 * A cluster within one engine: two shards that are both this process, so all rows are in the same tables. Filters make
 * it behave like two servers: a statement that a shard carries out reads only rows of this shard's apps, and nothing
 * of the tables that only the first shard has.
 */
export interface BridgeCluster {
  readonly name: string;
  /** A free TCP port. The engine listens there, and knows itself by it. */
  readonly port: number;
  /** The port of a ZooKeeper, for replicated tables. */
  readonly zookeeper?: number;
}

export const SHARDS = 2;
const LAYOUT = {
  name: '',
  database: '',
  count: SHARDS,
  first: SHARDS,
  isSpread: false,
  replicas: 1,
  weights: [],
};
/** What the client sends with every statement. Here it is set once, for the whole connection. */
const SENT = clusterSettings(LAYOUT);
export const CLUSTER_SETTINGS: ReadonlySet<string> = new Set(Object.keys(SENT));

/** Writes the engine's configuration and returns its path. */
export function clusterConfig(folder: string, { name, port, zookeeper }: BridgeCluster): string {
  const path = join(folder, 'cluster.xml');
  const shard = `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`;
  const replicated =
    zookeeper === undefined
      ? ''
      : `<zookeeper><node><host>127.0.0.1</host><port>${zookeeper}</port></node></zookeeper>
  <macros><shard>1</shard><replica>a</replica></macros>`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path,
    `<clickhouse>
  <listen_host>127.0.0.1</listen_host>
  <tcp_port>${port}</tcp_port>
  <remote_servers><${name}>${shard.repeat(SHARDS)}</${name}></remote_servers>
  ${replicated}
</clickhouse>
`,
  );
  return path;
}

/** Returns the SET of a connection that uses `database`. */
export function sessionSettings(database: string): string {
  const filters = [
    ...[...SHARDED].map((table) => [
      `${shardDatabase(database)}.${table}`,
      `shardNum() = 0 OR shardNum() - 1 = ${shardSql(SHARDS)}`,
    ]),
    ...[...FIRST_SHARD].map((table) => [`${database}.${table}`, 'shardNum() = 0']),
  ].map(([table, filter]) => `'${table}': '${filter}'`);
  const settings = Object.entries(SENT).map(([name, value]) => `${name} = '${value}'`);
  return `SET ${[...settings, `additional_table_filters = {${filters.join(', ')}}`].join(', ')}`;
}
