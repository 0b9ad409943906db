import { type ClusterLayout, onCluster, shardDatabase, shardSql } from './cluster-layout.ts';
import { FIRST_SHARD, SHARDED } from './tables.ts';

/*
 * Derives a cluster's tables from the statements of the migrations. A table of the first shard keeps its name. A
 * sharded table is made in the shards' database, with its views; a Distributed table of its name stands before it.
 */

const CREATE_TABLE = /^CREATE TABLE IF NOT EXISTS (\w+)\b/;
const CREATE_VIEW = /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS\b/;
const ALTER_TABLE = /^ALTER TABLE (\w+)\b/;
const DROP_VIEW = /^DROP (?:TABLE|VIEW) IF EXISTS (\w+)\b/;
const ENGINE = /\bENGINE\s*=\s*(\w*MergeTree)\b(?:\(([^)]*)\))?/;
const FROM = /\bFROM (\w+)\b/g;
/** Keeper remembers tokens for this long at least, and for as many inserts as the table says. */
const TOKEN_SECONDS = 30 * 86_400;

export function derived(statement: string, layout: ClusterLayout): readonly string[] {
  const own = `${shardDatabase(layout.database)}.`;
  const everywhere = onCluster(layout);
  const [, view, target] = CREATE_VIEW.exec(statement) ?? [];
  if (view !== undefined && target !== undefined) {
    const head = `CREATE MATERIALIZED VIEW IF NOT EXISTS ${own}${view}${everywhere} TO ${own}${target} AS`;
    return [statement.replace(CREATE_VIEW, head).replace(FROM, `FROM ${own}$1`)];
  }
  const [, dropped] = DROP_VIEW.exec(statement) ?? [];
  if (dropped !== undefined && !isKnown(dropped))
    return [`DROP TABLE IF EXISTS ${own}${dropped}${everywhere}`];
  const [, created] = CREATE_TABLE.exec(statement) ?? [];
  const [, altered] = ALTER_TABLE.exec(statement) ?? [];
  const table = created ?? altered;
  if (table === undefined) throw new Error(`No rule says what this is on a cluster: ${statement}`);
  if (!isKnown(table)) {
    throw new Error(
      `Nothing says where the table ${table} lives on a cluster: add it to src/clickhouse/tables.ts.`,
    );
  }
  const place = SHARDED.has(table) ? own : `${layout.database}.`;
  const head = created === undefined ? 'ALTER TABLE' : 'CREATE TABLE IF NOT EXISTS';
  const stored = statement.replace(`${head} ${table}`, `${head} ${place}${table}${everywhere}`);
  return [
    layout.isSpread ? replicated(stored) : stored,
    ...(SHARDED.has(table) ? [distributed(table, layout)] : []),
  ];
}

const isKnown = (table: string): boolean => SHARDED.has(table) || FIRST_SHARD.has(table);

/** It holds no rows, so it can be made anew whenever the columns behind it change. */
const distributed = (table: string, layout: ClusterLayout): string =>
  `CREATE OR REPLACE TABLE ${layout.database}.${table}${onCluster(layout)} AS ${shardDatabase(layout.database)}.${table}
ENGINE = Distributed(${layout.name}, ${shardDatabase(layout.database)}, ${table}, ${shardSql(layout.first)})`;

/** The server fills in the macros: {database} and {table} by itself, {shard} and {replica} from its configuration. */
const replicated = (statement: string): string =>
  statement
    .replace(
      ENGINE,
      (_, engine: string, args: string | undefined) =>
        `ENGINE = Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'${args ? `, ${args}` : ''})`,
    )
    .replace(
      /\bnon_replicated_deduplication_window = (\d+)/,
      `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${TOKEN_SECONDS}`,
    );
