import { identifier, join, type Sql, sql } from './sql.ts';

/** A cluster as its configuration and its tables describe it. */
export interface ClusterLayout {
  readonly name: string;
  readonly database: string;
  /** The number of shards now. */
  readonly count: number;
  /** The number of shards when the first table was made: ids that name no shard are spread over these. */
  readonly first: number;
  /** False if one server is all of the cluster's nodes. It then needs neither ON CLUSTER nor replicas. */
  readonly isSpread: boolean;
  /** The most replicas of a shard. An insert is acknowledged when all of them hold it. */
  readonly replicas: number;
  /** The share of each shard in new apps. */
  readonly weights: readonly number[];
}

/** The version of ids that name their shard (RFC 9562, section 5.8: free for such uses). */
export const SHARD_ID_VERSION = '8';

/** The tables of a cluster's shards are in a database of their own, under the same names. */
export const shardDatabase = (database: string): string => `${database}_shard`;

export const onCluster = ({ name, isSpread }: Pick<ClusterLayout, 'name' | 'isSpread'>): Sql =>
  isSpread ? sql` ON CLUSTER ${identifier(name)}` : sql``;

/**
 * SQL of an app's shard. It depends on nothing but the id and a number that never changes, so apps stay where they are
 * when shards are added. An id of version 8 names its shard. Other ids are those of apps from before the cluster.
 */
export const shardSql = (first: number): Sql =>
  join([
    sql`if(bitAnd(bitShiftRight(toUInt128(app_id), 76), 15) = ${Number(SHARD_ID_VERSION)}`,
    sql`toUInt16(bitAnd(bitShiftRight(toUInt128(app_id), 64), 4095))`,
    sql`toUInt16(bitAnd(toUInt128(app_id), 4095) % ${first}))`,
  ]);
