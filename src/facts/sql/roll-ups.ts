import { inMs, inSpans } from '../../clickhouse/literals.ts';
import { identifier, join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import type { FactKind } from '../../domain/fact-kinds.ts';
import { DAY_MS, HOUR_MS, type Span } from '../../domain/time.ts';
import { COARSE_UNITS, GRAINED, type Grained, inBuckets, inFinest, UTM } from './tables.ts';

/** A statement about `{apps}`: the run `{run}` writes, and rows of `{dead}` runs are ignored. */
interface RollUp {
  readonly name: string;
  /** Sums the finer rows of whole buckets in `spans` into one row per bucket and key. */
  statementOf(spans: readonly Span[]): Sql;
  readonly unitMs: number;
}

const SOURCE = sql`app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)}`;
const UTM_LIST = join(UTM.map(identifier));

function sumUp({ table, base, keys, sums, byDay }: Grained, level: number): RollUp {
  const [grain, unitMs] = COARSE_UNITS[level] ?? COARSE_UNITS[0];
  const finer = COARSE_UNITS[level - 1]?.[0] ?? base;
  const [into, columns, values] = [identifier(table), keys.map(identifier), sums.map(identifier)];
  const all = join([...columns, ...values]);
  const summed = join([...columns, ...values.map((sum) => sql`sum(t.${sum})`)]);
  const seconds = unitMs / 1000;
  return {
    name: `${table} ${grain}`,
    unitMs,
    statementOf: (spans) => sql`INSERT INTO ${into} (app_id, run, grain, bucket, ${all})
SELECT app_id, {run:UInt64}, ${quoted(grain)}, toDateTime(intDiv(toUnixTimestamp(t.bucket), ${seconds}) * ${seconds}, 'UTC') AS start, ${summed}
FROM ${into} AS t
WHERE ${SOURCE} AND grain = ${quoted(finer)} AND ${level === 0 ? inFinest(byDay, spans) : inBuckets(byDay, spans)}
GROUP BY ${join([sql`app_id`, sql`start`, ...columns])}`,
  };
}

const RETURN_DAYS: RollUp = {
  name: 'return_pairs',
  unitMs: DAY_MS,
  statementOf: (spans) => sql`INSERT INTO return_pairs (app_id, run, day, prev_day, sessions)
SELECT app_id, {run:UInt64}, toDateTime(intDiv(started_at, 86400000) * 86400, 'UTC') AS day,
    toDateTime(intDiv(prev, 86400000) * 86400, 'UTC') AS prev_day, count()
FROM session_facts
WHERE ${SOURCE} AND ${inMs(sql`started_at`, spans)} AND prev != -1
GROUP BY app_id, day, prev_day`,
};

const UTM_RETURN_DAYS: RollUp = {
  name: 'utm_return_pairs',
  unitMs: DAY_MS,
  statementOf: (spans) => sql`INSERT INTO utm_return_pairs (app_id, run, day, prev_day, ${UTM_LIST}, sessions)
SELECT app_id, {run:UInt64}, toDateTime(intDiv(started_at, 86400000) * 86400, 'UTC') AS day,
    toDateTime(intDiv(prev, 86400000) * 86400, 'UTC') AS prev_day, ${UTM_LIST}, count()
FROM utm_facts
WHERE ${SOURCE} AND ${inMs(sql`started_at`, spans)} AND prev != -1
GROUP BY app_id, day, prev_day, ${UTM_LIST}`,
};

const EVENT_QUARTERS: RollUp = {
  name: 'event_quarters',
  unitMs: HOUR_MS,
  statementOf: (spans) => sql`INSERT INTO event_quarters (app_id, run, bucket, pageviews, clicks, errors)
SELECT app_id, {run:UInt64}, toDateTime(intDiv(toUnixTimestamp(timestamp), 900) * 900, 'UTC') AS quarter,
    countIf(type = 'pageview'), countIf(type = 'click'), countIf(type = 'error')
FROM events
WHERE app_id IN {apps:Array(UUID)} AND ${inSpans(sql`toStartOfHour(timestamp)`, spans)}
GROUP BY app_id, quarter`,
};

/** In this order: coarser buckets are summed from finer ones. */
export const ROLL_UPS: { readonly [Kind in FactKind]: readonly RollUp[] } = {
  page: rollUps('page', [EVENT_QUARTERS]),
  session: rollUps('session', [RETURN_DAYS, UTM_RETURN_DAYS]),
};

function rollUps(kind: FactKind, extra: readonly RollUp[]): RollUp[] {
  return [...COARSE_UNITS.flatMap((_, level) => GRAINED[kind].map((table) => sumUp(table, level))), ...extra];
}
