import type { Param } from '../clickhouse/database.ts';
import type { Range } from '../domain/time.ts';
import type { Grain, Plan, Span } from './plan.ts';

/**
 * SQL put together from closed pieces, and the values bound to its places. Each value gets a place of its own name;
 * nothing that a caller sent is ever text.
 */
export class Bindings {
  readonly params: Record<string, Param>;
  #count = 0;

  constructor(params: Readonly<Record<string, Param>>) {
    this.params = { ...params };
  }

  /** An Int64 place, for epoch ms and counts. */
  int(value: number): string {
    const name = `p${this.#count++}`;
    this.params[name] = value;
    return `{${name}:Int64}`;
  }

  /** A DateTime64(3) instant. */
  instant(ms: number): string {
    return `fromUnixTimestamp64Milli(${this.int(ms)}, 'UTC')`;
  }

  /** `column` (DateTime64) lies in one of the ranges; false without any. */
  inRanges(column: string, ranges: readonly Range[]): string {
    return anyOf(
      ranges.map(({ from, to }) => `${column} >= ${this.instant(from)} AND ${column} <= ${this.instant(to)}`),
    );
  }

  /** `column` (a bucket's start, DateTime) lies in one of the spans. */
  inSpans(column: string, spans: readonly Span[]): string {
    return anyOf(
      spans.map(({ start, end }) => `${column} >= ${this.bucket(start)} AND ${column} < ${this.bucket(end)}`),
    );
  }

  /** `column` (Int64 epoch ms) lies in one of the spans. */
  inMs(column: string, spans: readonly Span[]): string {
    return anyOf(
      spans.map(({ start, end }) => `${column} >= ${this.int(start)} AND ${column} < ${this.int(end)}`),
    );
  }

  /** The rows of a table with grains that make up the plans' sealed parts; `names` where the table's own differ. */
  inGrains(plans: readonly Plan[], names: Readonly<Partial<Record<Grain, string>>> = {}): string {
    const byGrain = new Map<Grain, Span[]>();
    for (const span of plans.flatMap(({ buckets }) => buckets)) {
      byGrain.set(span.grain, [...(byGrain.get(span.grain) ?? []), span]);
    }
    return anyOf(
      [...byGrain].map(
        ([grain, spans]) => `grain = '${names[grain] ?? grain}' AND ${this.inSpans('bucket', spans)}`,
      ),
    );
  }

  /** A DateTime reaches to 2106: beyond, no bucket can lie. */
  bucket(ms: number): string {
    return `toDateTime(${this.int(Math.min(Math.floor(ms / 1000), 0xffff_ffff))}, 'UTC')`;
  }
}

export const anyOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;

/** `session_sums` has half hours in the place of hours, `traffic` its own names. */
export const HALF_HOURS = { hour: 'half_hour' } as const;
export const UTC = { hour: 'utc_hour', day: 'utc_day' } as const;

/** The parts that a plan needs, glued by UNION ALL; `empty` where it needs none. */
export const unionAll = (parts: readonly (string | null)[], empty: string): string =>
  parts.filter((part) => part !== null).join('\nUNION ALL\n') || empty;

/** The plan's raw pieces. */
export const rawRanges = (plan: Plan): Range[] =>
  [plan.left, plan.right, plan.tail].filter((range) => range !== null);

export const isEmpty = ({ start, end }: Span): boolean => start >= end;
