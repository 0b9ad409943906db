import { randomBytes } from 'node:crypto';
import { type AppId, appId } from '../domain/ids.ts';
import {
  type ClusterLayout,
  onCluster,
  SHARD_ID_VERSION,
  shardDatabase,
  shardSql,
} from './cluster-layout.ts';
import { derived } from './cluster-schema.ts';
import { identifier, type Sql, sql } from './sql.ts';
import { SHARDED } from './tables.ts';

/** How the store's tables are spread. On a store that is no cluster there is one shard, and nothing changes. */
export interface Shards {
  readonly count: number;
  /** The database of the tables about apps; null: that of all tables. */
  readonly database: string | null;
  /** False if the store's nodes have clocks of their own. */
  readonly hasOneClock: boolean;
  /** The shard of an app, counted from 0. */
  of(app: string): number;
  /** SQL of the same, for a row with the column app_id. */
  readonly sql: Sql;
  /** Returns the id of a new app. `digits`: 32 hexadecimal ones, random by default; they also draw the shard, by weight. */
  newApp(digits?: string): AppId;
  /** Returns a table as DELETE and ALTER name it: on a cluster, the tables that hold its rows. */
  stored(table: string): Sql;
  /** Returns a table as a subquery of such a statement names it. */
  beside(table: string): Sql;
  /** Returns a table of the system as all nodes have it. */
  everyNode(table: Sql): Sql;
  /** Returns this store's form of a migration's statement: one or more statements. */
  derive(statement: Sql): readonly Sql[];
}

/** A store that is no cluster. */
export const ONE_SHARD: Shards = {
  count: 1,
  database: null,
  hasOneClock: true,
  of: () => 0,
  sql: sql`0`,
  newApp: (digits = randomDigits()) => idOf(digits, `4${digits.slice(13, 16)}`),
  stored: identifier,
  beside: identifier,
  everyNode: (table) => table,
  derive: (statement) => [statement],
};

const MOST_SHARDS = 4_096;
/** The place of the version in the text of an id, and of the three digits behind it. */
const [VERSION_AT, SHARD_AT, ID_END] = [14, 15, 18];
/** The digits that draw the shard. The id does not have them. */
const DRAWING = [12, 16] as const;

export function shardsOf(layout: ClusterLayout): Shards {
  const { database, count, first, isSpread, weights } = layout;
  if (count > MOST_SHARDS) throw new Error(`More than ${MOST_SHARDS} shards.`);
  const beside = (table: string): Sql =>
    SHARDED.has(table) ? sql`${identifier(shardDatabase(database))}.${identifier(table)}` : identifier(table);
  return {
    count,
    database: shardDatabase(database),
    hasOneClock: !isSpread,
    of: (app) =>
      app[VERSION_AT] === SHARD_ID_VERSION
        ? Number.parseInt(app.slice(SHARD_AT, ID_END), 16)
        : Number.parseInt(app.slice(-3), 16) % first,
    sql: shardSql(first),
    newApp: (digits = randomDigits()) => {
      const shard = drawn(weights, Number.parseInt(digits.slice(...DRAWING), 16) / 16 ** 4);
      return idOf(digits, `${SHARD_ID_VERSION}${shard.toString(16).padStart(3, '0')}`);
    },
    stored: (table) => sql`${beside(table)}${SHARDED.has(table) ? onCluster(layout) : sql``}`,
    beside,
    everyNode: (table) => sql`clusterAllReplicas(${identifier(layout.name)}, ${table})`,
    derive: (statement) => derived(statement, layout),
  };
}

const randomDigits = (): string => randomBytes(16).toString('hex');

/** Returns a UUID of these digits with this third group. */
function idOf(digits: string, third: string): AppId {
  const variant = '89ab'[Number.parseInt(digits[16] ?? '0', 16) % 4];
  return appId(
    `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${third}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`,
  );
}

/** Returns the place that `at`, from 0 to 1, hits if each place is as wide as its weight. */
export function drawn(weights: readonly number[], at: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let end = 0;
  const found = weights.findIndex((weight) => {
    end += weight;
    return at * total < end;
  });
  return Math.max(found, 0);
}
