import { anyOf, inMs, inSpans } from '../clickhouse/literals.ts';
import { identifier, join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { DAY_MS, floorTo, type Span } from '../domain/time.ts';
import type { FactKind } from './watermarks.ts';

/** A statement about `{apps}`: the run `{run}` writes, and rows of `{dead}` runs are ignored. */
export interface RollUp {
  readonly name: string;
  /** Sums the finer rows of whole buckets in `spans` into one row per bucket and key. */
  statementOf(spans: readonly Span[]): Sql;
  readonly unitMs: number;
}

/** The rows of a table that belong to some hours. */
export interface Cut {
  readonly table: string;
  /** SQL condition: the row belongs to one of these hours, or to a coarser bucket that contains one. */
  within(spans: readonly Span[]): Sql;
}

interface Grained {
  readonly table: string;
  readonly base: 'hour' | 'half_hour';
  readonly keys: readonly string[];
  readonly sums: readonly string[];
  /**
   * The table is sorted by the bucket's day. The engine does not derive a bound on the day from a bound on
   * the bucket.
   */
  readonly byDay?: true;
}

const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];
const UTM_LIST = join(UTM.map(identifier));

/** Grains coarser than an hour. Each is summed from the one before. */
export const COARSE_UNITS = [
  ['day', DAY_MS],
  ['day4', 4 * DAY_MS],
  ['day16', 16 * DAY_MS],
  ['day64', 64 * DAY_MS],
  ['day256', 256 * DAY_MS],
] as const;

/** Tables of sums by bucket at several grains. */
const GRAINED: { readonly [Kind in FactKind]: readonly Grained[] } = {
  page: [
    {
      table: 'page_facts',
      base: 'hour',
      keys: ['key'],
      sums: ['events', 'repeats', 'engaged_ms', 'engagements'],
      byDay: true,
    },
    { table: 'label_facts', base: 'hour', keys: ['kind', 'key'], sums: ['events', 'repeats'] },
  ],
  session: [
    {
      table: 'session_sums',
      base: 'half_hour',
      keys: [],
      sums: [
        'sessions',
        'bounces',
        'duration_ms',
        'pageviews',
        'clicks',
        'with_errors',
        'new_visitors',
        'day_visitors',
        'tehran_visitors',
      ],
    },
    { table: 'session_dimensions', base: 'hour', keys: ['key'], sums: ['sessions'] },
    {
      table: 'session_places',
      base: 'hour',
      keys: ['place'],
      sums: ['sessions'],
    },
    { table: 'utm_sums', base: 'hour', keys: UTM, sums: ['sessions', 'new_visitors'] },
  ],
};

/** The sort column of `page_facts` before the key and the bucket. */
export const DAY_OF_BUCKET = sql`toStartOfDay(bucket)`;
const SOURCE = sql`app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)}`;

/** The end of an open span. */
export const OPEN_END = Number.MAX_SAFE_INTEGER;

const ceilTo = (ms: number, unitMs: number): number =>
  ms === OPEN_END ? OPEN_END : Math.ceil(ms / unitMs) * unitMs;

/** Returns the buckets that overlap `spans`. Both are in order; adjacent buckets are joined into one span. */
export function bucketsOf(spans: readonly Span[], unitMs: number): Span[] {
  const found: Span[] = [];
  for (const { start, end } of spans) {
    const next = { start: floorTo(start, unitMs), end: ceilTo(end, unitMs) };
    const last = found.at(-1);
    if (last !== undefined && next.start <= last.end) {
      found[found.length - 1] = { start: last.start, end: Math.max(last.end, next.end) };
    } else {
      found.push(next);
    }
  }
  return found;
}

/** A bucket of a day or more starts with its day, so the day alone is a sufficient condition. */
const inBuckets = (byDay: true | undefined, spans: readonly Span[]): Sql =>
  inSpans(byDay ? DAY_OF_BUCKET : sql`bucket`, spans);
const inFinest = (byDay: true | undefined, spans: readonly Span[]): Sql =>
  byDay
    ? sql`${inSpans(sql`bucket`, spans)} AND ${inSpans(DAY_OF_BUCKET, bucketsOf(spans, DAY_MS))}`
    : inSpans(sql`bucket`, spans);

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

/** In this order: coarser buckets are summed from finer ones. */
export const ROLL_UPS: { readonly [Kind in FactKind]: readonly RollUp[] } = {
  page: rollUps('page', []),
  session: rollUps('session', [RETURN_DAYS, UTM_RETURN_DAYS]),
};

function rollUps(kind: FactKind, extra: readonly RollUp[]): RollUp[] {
  return [...COARSE_UNITS.flatMap((_, level) => GRAINED[kind].map((table) => sumUp(table, level))), ...extra];
}

const grainedCut = ({ table, base, byDay }: Grained): Cut => ({
  table,
  within: (spans) =>
    anyOf([
      sql`grain = ${quoted(base)} AND ${inFinest(byDay, spans)}`,
      ...COARSE_UNITS.map(
        ([grain, unitMs]) => sql`grain = ${quoted(grain)} AND ${inBuckets(byDay, bucketsOf(spans, unitMs))}`,
      ),
    ]),
});

const dayCut = (table: string): Cut => ({
  table,
  within: (spans) => inSpans(sql`day`, bucketsOf(spans, DAY_MS)),
});

const sealedHours = (kind: FactKind): Cut => ({
  table: 'sealed_hours',
  within: (spans) => sql`kind = ${quoted(kind)} AND ${inSpans(sql`hour`, spans)}`,
});

/** All tables of facts, by kind. `sealed_hours` is cleared first: an hour without its count is not sealed. */
export const CUTS: { readonly [Kind in FactKind]: readonly Cut[] } = {
  page: [
    sealedHours('page'),
    ...GRAINED.page.map(grainedCut),
    { table: 'revisits', within: (spans) => inSpans(sql`hour`, spans) },
  ],
  session: [
    sealedHours('session'),
    ...GRAINED.session.map(grainedCut),
    ...['return_pairs', 'utm_return_pairs'].map(dayCut),
    ...['session_facts', 'visitor_sessions', 'session_returns', 'utm_facts', 'utm_returns'].map((table) => ({
      table,
      within: (spans: readonly Span[]) => inMs(sql`started_at`, spans),
    })),
  ],
};
