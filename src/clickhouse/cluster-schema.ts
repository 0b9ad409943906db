import { type ClusterLayout, onCluster, shardDatabase, shardSql } from './cluster-layout.ts';
import { identifier, type Sql, sql, unchecked } from './sql.ts';
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

export function derived(statement: Sql, layout: ClusterLayout): readonly Sql[] {
  const own = sql`${identifier(shardDatabase(layout.database))}.`;
  const everywhere = onCluster(layout);
  const [, view, target] = CREATE_VIEW.exec(statement) ?? [];
  if (view !== undefined && target !== undefined) {
    const head = sql`CREATE MATERIALIZED VIEW IF NOT EXISTS ${own}${identifier(view)}${everywhere} TO ${own}${identifier(target)} AS`;
    return [rewritten(statement, (text) => text.replace(CREATE_VIEW, head).replace(FROM, `FROM ${own}$1`))];
  }
  const [, dropped] = DROP_VIEW.exec(statement) ?? [];
  if (dropped !== undefined && !isKnown(dropped))
    return [sql`DROP TABLE IF EXISTS ${own}${identifier(dropped)}${everywhere}`];
  const [, created] = CREATE_TABLE.exec(statement) ?? [];
  const [, altered] = ALTER_TABLE.exec(statement) ?? [];
  const table = created ?? altered;
  if (table === undefined) throw new Error(`No rule says what this is on a cluster: ${statement}`);
  if (!isKnown(table)) {
    throw new Error(
      `Nothing says where the table ${table} lives on a cluster: add it to src/clickhouse/tables.ts.`,
    );
  }
  const place = SHARDED.has(table) ? own : sql`${identifier(layout.database)}.`;
  const head = created === undefined ? 'ALTER TABLE' : 'CREATE TABLE IF NOT EXISTS';
  const stored = rewritten(statement, (text) =>
    text.replace(`${head} ${table}`, `${head} ${place}${table}${everywhere}`),
  );
  return [
    layout.isSpread ? replicated(stored) : stored,
    ...(SHARDED.has(table) ? [distributed(table, layout)] : []),
  ];
}

/** The statement is a migration's, and the text that replaces its parts is made here of checked names. */
const rewritten = (statement: Sql, change: (text: string) => string): Sql => unchecked(change(statement));

const isKnown = (table: string): boolean => SHARDED.has(table) || FIRST_SHARD.has(table);

/** It holds no rows, so it can be made anew whenever the columns behind it change. */
const distributed = (table: string, layout: ClusterLayout): Sql => {
  const [database, shards] = [identifier(layout.database), identifier(shardDatabase(layout.database))];
  return sql`CREATE OR REPLACE TABLE ${database}.${identifier(table)}${onCluster(layout)} AS ${shards}.${identifier(table)}
ENGINE = Distributed(${identifier(layout.name)}, ${shards}, ${identifier(table)}, ${shardSql(layout.first)})`;
};

/** The server fills in the macros: {database} and {table} by itself, {shard} and {replica} from its configuration. */
const replicated = (statement: Sql): Sql =>
  rewritten(statement, (text) =>
    text
      .replace(
        ENGINE,
        (_, engine: string, args: string | undefined) =>
          `ENGINE = Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'${args ? `, ${args}` : ''})`,
      )
      .replace(
        /\bnon_replicated_deduplication_window = (\d+)/,
        `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${TOKEN_SECONDS}`,
      ),
  );
