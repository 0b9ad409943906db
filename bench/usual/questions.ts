import { type Sql, sql } from '../../src/clickhouse/sql.ts';
import { SESSION_HASH, sessionsSql } from '../raw/sessions-sql.ts';

/** The ways to count, besides the service's. */
export type Way = 'raw exact' | 'raw uniq' | 'hourly uniqState';

/** SQL of one question for each way. A row has `key` and the figure `n`. */
export interface UsualQuestion {
  readonly name: string;
  readonly sql: Readonly<Record<Way, Sql>>;
}

const EVENTS = sql`FROM events
WHERE app_id = {app:UUID} AND type = 'pageview'
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;
const SESSIONS = sql`FROM (${sessionsSql()})`;
/** Every hour that the range touches, because a rollup cannot be cut. */
const HOURS = sql`WHERE app_id = {app:UUID}
    AND hour >= toStartOfHour(fromUnixTimestamp64Milli({from:Int64}, 'UTC')) AND hour <= toStartOfHour(fromUnixTimestamp64Milli({to:Int64}, 'UTC'))`;

const VISITOR = sql`cityHash64(visitor_id)`;
const TAG = sql`concat(utm_source, ' ', utm_medium, ' ', utm_campaign)`;

const ways = (raw: (uniq: Sql) => Sql, rollup: Sql): Readonly<Record<Way, Sql>> => ({
  'raw exact': raw(sql`uniqExact`),
  'raw uniq': raw(sql`uniq`),
  'hourly uniqState': rollup,
});

export const USUAL_QUESTIONS: readonly UsualQuestion[] = [
  {
    name: 'unique sessions by page',
    sql: ways(
      (uniq) => sql`SELECT toString(path) AS key, ${uniq}(${SESSION_HASH}) AS n ${EVENTS} GROUP BY path`,
      sql`SELECT toString(path) AS key, uniqMerge(sessions) AS n FROM usual_pages ${HOURS} GROUP BY path`,
    ),
  },
  {
    name: 'visitors',
    sql: ways(
      (uniq) => sql`SELECT 'all' AS key, ${uniq}(${VISITOR}) AS n ${SESSIONS}`,
      sql`SELECT 'all' AS key, uniqMerge(visitors) AS n FROM usual_sessions ${HOURS}`,
    ),
  },
  {
    name: 'visitors by campaign',
    sql: ways(
      (uniq) =>
        sql`SELECT ${TAG} AS key, ${uniq}(${VISITOR}) AS n ${SESSIONS} WHERE utm_source != '' GROUP BY key`,
      sql`SELECT concat(source, ' ', medium, ' ', campaign) AS key, uniqMerge(visitors) AS n
FROM usual_sessions ${HOURS} AND source != '' GROUP BY key`,
    ),
  },
  {
    name: 'visitors by Tehran hour',
    sql: ways(
      (uniq) =>
        sql`SELECT toString(toUnixTimestamp(toStartOfHour(started_at, 'Asia/Tehran'))) AS key, ${uniq}(${VISITOR}) AS n ${SESSIONS} GROUP BY key`,
      // Half of each UTC hour belongs to another hour of Tehran, so the rollup's start decides.
      sql`SELECT toString(toUnixTimestamp(toStartOfHour(hour, 'Asia/Tehran'))) AS key, uniqMerge(visitors) AS n
FROM usual_sessions ${HOURS} GROUP BY key`,
    ),
  },
];
