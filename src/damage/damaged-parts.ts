import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import { lossOf } from './losses.ts';

/** A part that the engine took out of its table because it is broken. */
export interface DamagedPart {
  readonly database: string;
  readonly table: string;
  /** The name of its folder below `detached`. */
  readonly part: string;
  readonly bytes: number;
  /** What is lost with it. */
  readonly loss: string;
}

/** A part that an operator detaches has no reason, and is no damage. */
const REASONS = sql`reason IN ('broken', 'broken-on-start', 'covered-by-broken', 'broken-from-backup')`;

const partsIn = (detached: Sql): Query<Omit<DamagedPart, 'loss'>> => ({
  name: 'damaged parts',
  sql: sql`SELECT database, table, name AS part, toUInt64(bytes_on_disk) AS bytes FROM ${detached} AS d
WHERE database IN (currentDatabase(), {shards:String}) AND ${REASONS}
ORDER BY table, part`,
  row: z.object({ database: z.string(), table: z.string(), part: z.string(), bytes: z.number() }),
});

/** A replica fetches a broken part from another one. Until then, its rows are missing here. */
const onReplicas = (detached: Sql, parts: Sql): Query<Omit<DamagedPart, 'loss'>> => ({
  ...partsIn(detached),
  sql: sql`SELECT d.database AS database, d.table AS table, d.name AS part, toUInt64(d.bytes_on_disk) AS bytes
FROM (SELECT hostName() AS host, * FROM ${detached} WHERE database IN (currentDatabase(), {shards:String}) AND ${REASONS}) AS d
LEFT JOIN
(
    SELECT hostName() AS host, database, table, partition_id, min_block_number AS first, max_block_number AS last FROM ${parts}
    WHERE active AND database IN (currentDatabase(), {shards:String})
) AS p ON p.host = d.host AND p.database = d.database AND p.table = d.table AND p.partition_id = d.partition_id
GROUP BY d.host, database, table, part, bytes
HAVING NOT max(p.first <= d.min_block_number AND p.last >= d.max_block_number AND p.partition_id != '')
ORDER BY table, part`,
});

/** Finds the parts that are missing because they are broken, on every node. */
export async function damagedParts(db: Database): Promise<DamagedPart[]> {
  const { everyNode, hasOneClock, database } = db.shards;
  const detached = everyNode(sql`system.detached_parts`);
  const query = hasOneClock ? partsIn(detached) : onReplicas(detached, everyNode(sql`system.parts`));
  const rows = await db.query(query, { shards: database ?? '' }, { lane: 'lookup' });
  return rows.map((row) => ({ ...row, loss: lossOf(row.table) }));
}

/** Names the parts and what is lost, in a sentence. */
export function described(parts: readonly DamagedPart[]): string {
  const [first, ...others] = parts;
  if (first === undefined) return 'The store is whole.';
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `The table ${first.table} has lost the damaged part ${first.part} (${first.loss})${more}.`;
}
