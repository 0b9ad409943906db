import { z } from 'zod';
import { type ClusterLayout, onCluster, shardDatabase } from './cluster-layout.ts';
import { identifier, quoted, type Sql, sql } from './sql.ts';

/** The cluster as the settings name it. */
export interface ClusterChoice {
  readonly name: string;
  /** The share of each shard in new apps; equal shares by default. */
  readonly weights?: readonly number[];
}

/** The servers' configuration and the settings do not fit together. The message says what to do. */
export class ClusterUnfit extends Error {
  override readonly name = 'ClusterUnfit';
}

/** Shorter than a writer's statement may take: its error says that the outcome is unknown. */
const QUORUM_MS = 20_000;

/** Sends a SELECT without a database, or a statement without a result. */
interface Server {
  rows(statement: Sql): Promise<unknown[]>;
  run(statement: Sql): Promise<void>;
}

const Node = z.object({ shard: z.number(), weight: z.number(), isLocal: z.number() });
const Macros = z.array(z.object({ macro: z.string() }));
const Engine = z.array(z.object({ engine: z.string() }));

/**
 * Reads the cluster's layout and creates its databases. Throws an Error with the remedy if the configuration of the
 * servers does not fit.
 */
export async function openCluster(
  server: Server,
  { name, weights }: ClusterChoice,
  database: string,
): Promise<ClusterLayout> {
  const nodes = z
    .array(Node)
    .parse(
      await server.rows(
        sql`SELECT toUInt32(shard_num) AS shard, toUInt32(shard_weight) AS weight, toUInt32(is_local) AS isLocal FROM system.clusters WHERE cluster = ${quoted(name)}`,
      ),
    );
  const isSpread = nodes.some(({ isLocal }) => isLocal === 0);
  assertUsable(name, nodes);
  if (isSpread) await assertMacros(server);
  const count = Math.max(...nodes.map(({ shard }) => shard));
  if (weights !== undefined && weights.length !== count) {
    throw new ClusterUnfit(
      `CLICKHOUSE_SHARD_WEIGHTS has ${weights.length} weights, and the cluster ${name} has ${count} shards: give one weight for each shard.`,
    );
  }
  const replicas = Math.max(
    ...Array.from({ length: count }, (_, i) => nodes.filter(({ shard }) => shard === i + 1).length),
  );
  for (const each of [database, shardDatabase(database)]) {
    await server.run(sql`CREATE DATABASE IF NOT EXISTS ${identifier(each)}${onCluster({ name, isSpread })}`);
  }
  const first = (await firstCount(server, database)) ?? count;
  return { name, database, count, first, isSpread, replicas, weights: weights ?? Array(count).fill(1) };
}

function assertUsable(name: string, nodes: readonly z.infer<typeof Node>[]): void {
  if (nodes.length === 0) {
    throw new ClusterUnfit(
      `The server knows no cluster ${name}: check CLICKHOUSE_CLUSTER and the server's remote_servers.`,
    );
  }
  if (nodes.some(({ weight }) => weight !== 1)) {
    throw new ClusterUnfit(
      `A shard of the cluster ${name} has a weight: remove it from remote_servers, because it moves apps that are there. CLICKHOUSE_SHARD_WEIGHTS says where new apps go.`,
    );
  }
  if (!nodes.some(({ shard, isLocal }) => shard === 1 && isLocal === 1)) {
    throw new ClusterUnfit(
      `The server is no replica of the first shard of the cluster ${name}: let CLICKHOUSE_URL lead to that shard, which holds accounts and keys.`,
    );
  }
}

async function assertMacros(server: Server): Promise<void> {
  const macros = Macros.parse(await server.rows(sql`SELECT macro FROM system.macros`)).map(
    ({ macro }) => macro,
  );
  const missing = ['shard', 'replica'].filter((macro) => !macros.includes(macro));
  if (missing.length > 0) {
    throw new ClusterUnfit(
      `The server has no macro ${missing.join(', ')}: every node of a cluster needs shard and replica.`,
    );
  }
}

/** Reads the number of shards over which the existing tables spread ids that name no shard. */
async function firstCount(server: Server, database: string): Promise<number | null> {
  const [found] = Engine.parse(
    await server.rows(
      sql`SELECT engine_full AS engine FROM system.tables WHERE database = ${quoted(database)} AND name = 'events'`,
    ),
  );
  if (found === undefined) return null;
  const [, count] = /% (\d+)\)/.exec(found.engine) ?? [];
  if (count === undefined) {
    throw new ClusterUnfit(
      `The database ${database} was made without CLICKHOUSE_CLUSTER: use another CLICKHOUSE_DATABASE and move its apps there.`,
    );
  }
  return Number(count);
}

/**
 * Settings of every statement on a cluster. A statement that would ask every shard is an error. An insert is
 * acknowledged when all replicas of the shard hold it, so each of them may answer.
 */
export const clusterSettings = ({ replicas }: ClusterLayout): Readonly<Record<string, string | number>> => ({
  optimize_skip_unused_shards: 1,
  force_optimize_skip_unused_shards: '2',
  distributed_product_mode: 'local',
  distributed_foreground_insert: 1,
  // Otherwise INSERT … SELECT between two such tables runs on every shard, whatever its apps are.
  parallel_distributed_insert_select: 0,
  // Replicas may delete outdated notes at different moments; deleted notes are never read again.
  allow_nondeterministic_mutations: 1,
  mutations_execute_nondeterministic_on_initiator: 1,
  ...(replicas > 1 ? { insert_quorum: String(replicas), insert_quorum_timeout: QUORUM_MS } : {}),
});
