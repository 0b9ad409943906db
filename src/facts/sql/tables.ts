import { inSpans } from '../../clickhouse/literals.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import type { FactKind } from '../../domain/fact-kinds.ts';
import { DAY_MS, floorTo, type Span } from '../../domain/time.ts';

/** A table of sums by bucket. */
export interface Grained {
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

/** The columns of a campaign. */
export const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;

/** Grains coarser than an hour. Each is summed from the one before. */
export const COARSE_UNITS = [
  ['day', DAY_MS],
  ['day4', 4 * DAY_MS],
  ['day16', 16 * DAY_MS],
  ['day64', 64 * DAY_MS],
  ['day256', 256 * DAY_MS],
] as const;

/** Tables of sums by bucket at several grains. */
export const GRAINED: { readonly [Kind in FactKind]: readonly Grained[] } = {
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

/**
 * SQL condition: the row's bucket, of a day or more, is one of `spans`. A bucket starts with its day, so the day alone
 * is a sufficient condition.
 */
export const inBuckets = (byDay: true | undefined, spans: readonly Span[]): Sql =>
  inSpans(byDay ? DAY_OF_BUCKET : sql`bucket`, spans);

/** The same for the table's finest rows, which are not whole days. */
export const inFinest = (byDay: true | undefined, spans: readonly Span[]): Sql =>
  byDay
    ? sql`${inSpans(sql`bucket`, spans)} AND ${inSpans(DAY_OF_BUCKET, bucketsOf(spans, DAY_MS))}`
    : inSpans(sql`bucket`, spans);
