import type { Lane } from './connect.ts';
import { type Settings, settingsText } from './settings.ts';
import { type Sql, sql } from './sql.ts';

/** More than any question returns. A runaway statement fails here before it fills this process's memory. */
const MAX_ROWS = 1_000_000;
const MAX_BYTES = 512 * 1024 ** 2;
const READ_MEMORY = 2 * 1024 ** 3;
/** To search an index for more values takes longer than to read all rows. */
const MOST_SEARCHED = 1_000;
/**
 * The rows of a SELECT stay one block from the table on. The token of an insert is recognised only if the rows come in
 * the same blocks. Otherwise they are cut where the parts of the source end at that time, and by the sizes of rows.
 */
export const ONE_BLOCK = sql`max_threads = 1, max_block_size = 1000000, preferred_block_size_bytes = 0, preferred_max_column_in_block_size_bytes = 0`;

/** What the settings of any statement need. */
interface Sent {
  /** See `commentOf`. */
  readonly comment: string;
  readonly seconds: number;
  /** Lets a statement ask every shard of a cluster. */
  readonly reach: Settings;
}

interface SentRead extends Sent {
  readonly lane: Lane;
  readonly maxMemoryBytes?: number;
  readonly parallel?: boolean;
  readonly searches?: boolean;
}

/** The settings of a SELECT. `more`: further ones, which win over these. */
export const settingsOfSelect = (
  {
    comment,
    seconds,
    reach,
    lane,
    maxMemoryBytes = READ_MEMORY,
    parallel = false,
    searches = false,
  }: SentRead,
  more: Settings,
): Sql =>
  settingsText({
    log_comment: comment,
    max_execution_time: seconds,
    max_memory_usage: maxMemoryBytes,
    max_result_rows: MAX_ROWS,
    max_result_bytes: MAX_BYTES,
    result_overflow_mode: 'throw',
    output_format_json_quote_64bit_integers: 0,
    // No two polls share a condition, and a benchmark would measure this cache.
    use_query_condition_cache: 0,
    ...(parallel || lane === 'seal' ? {} : { max_threads: 1 }),
    ...(lane === 'read' ? searchOf(searches) : {}),
    ...more,
    ...reach,
  });

/** No table is sorted by the results of most subqueries. The engine would sort them and search each index in vain. */
const searchOf = (searches: boolean): Settings =>
  searches
    ? { use_index_for_in_with_subqueries_max_values: MOST_SEARCHED }
    : { use_index_for_in_with_subqueries: 0 };

/** The settings of an INSERT. */
export const settingsOfInsert = ({ comment, seconds, reach }: Sent, token: string | undefined): Sql =>
  settingsText({
    log_comment: comment,
    max_execution_time: seconds,
    max_partitions_per_insert_block: 0,
    async_insert: 0,
    ...(token === undefined
      ? // Without a token the engine would take equal blocks for one and the same insert.
        { deduplicate_insert: 'disable' }
      : {
          insert_deduplication_token: token,
          deduplicate_blocks_in_dependent_materialized_views: 1,
        }),
    ...reach,
  });
