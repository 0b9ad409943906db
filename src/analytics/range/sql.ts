import { anyOf, bucket, inHours, inRanges, inSpans, int, LAST_SECOND } from '../../clickhouse/literals.ts';
import { join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, floorTo, HOUR_MS, type Range, type Span } from '../../domain/time.ts';
import { DAY_OF_BUCKET } from '../../facts/sql/tables.ts';
import { GRAIN_MS, type Grain, type Plan } from './plan.ts';

/* Builds SQL from fixed pieces. Values in it come from functions for literals alone. */

/**
 * SQL condition: an event lies in one of the ranges. The raw table is sorted by the hour, which is a hint for the index alone:
 * the time decides.
 */
export const eventsIn = (ranges: readonly Range[]): Sql =>
  sql`indexHint(${inHours(ranges)}) AND ${inRanges(sql`timestamp`, ranges)}`;

/**
 * SQL of an array of UInt128. Each value is the base64 of its 16 bytes, lowest first, which keeps the
 * statement short.
 */
export function uInt128s(values: readonly string[]): Sql {
  const bytes = Buffer.concat(values.map((value) => Buffer.from(value, 'base64')));
  if (bytes.length !== values.length * 16) throw new Error('not the base64 of 16 bytes');
  return sql`arrayMap(i -> reinterpretAsUInt128(substring(base64Decode(${quoted(bytes.toString('base64'))}), i * 16 + 1, 16)), range(${int(values.length)}))`;
}

/** The engine evaluates a short list of buckets faster than conditions. Up to this many count as short. */
const MOST_LISTED = 200;

/** How a table encodes its grains. */
export interface Grains {
  readonly codes: Readonly<Partial<Record<Grain, number>>>;
  /** Width of the finest bucket, which counts as the grain `hour`. */
  readonly finestMs: number;
  /**
   * The table is sorted by the bucket's day. The engine does not derive a bound on the day from a bound on
   * the bucket.
   */
  readonly byDay?: true;
}

const FACTS: Grains = {
  codes: { hour: 1, day: 2, day4: 3, day16: 4, day64: 5, day256: 6 },
  finestMs: HOUR_MS,
};
/** `session_sums`: half hours instead of hours. */
export const HALF_HOURS: Grains = { ...FACTS, finestMs: HOUR_MS / 2 };
/** `page_facts`: sorted by day. */
export const BY_DAY: Grains = { ...FACTS, byDay: true };
/** `traffic`, by UTC hour and day. */
export const UTC: Grains = { codes: { hour: 1, day: 2 }, finestMs: HOUR_MS };

/** SQL condition: the row belongs to one of the plans' buckets. */
export function inGrains(plans: readonly Plan[], { codes, finestMs, byDay }: Grains = FACTS): Sql {
  const spans = plans
    .flatMap(({ buckets }) => buckets)
    .map(({ grain, start, end }) => ({
      code: int(codes[grain] ?? Number.NaN),
      stepMs: grain === 'hour' ? finestMs : GRAIN_MS[grain],
      start,
      end,
    }));
  if (spans.length === 0) return sql`false`;
  const day = (at: number): Sql => (byDay ? sql`${bucket(floorTo(at, DAY_MS))}, ` : sql``);
  const count = spans.reduce((sum, { start, end, stepMs }) => sum + (end - start) / stepMs, 0);
  if (count > MOST_LISTED) {
    return anyOf(spans.map(({ code, ...span }) => sql`grain = ${code} AND ${inSpans(sql`bucket`, [span])}`));
  }
  const listed: Sql[] = [];
  for (const { code, stepMs, start, end } of spans) {
    for (let at = start; at < end; at += stepMs) {
      if (at >= 0 && at <= LAST_SECOND * 1000) listed.push(sql`(${code}, ${day(at)}${bucket(at)})`);
    }
  }
  if (listed.length === 0) return sql`false`;
  return sql`(grain, ${byDay ? sql`${DAY_OF_BUCKET}, ` : sql``}bucket) IN (${join(listed)})`;
}

/**
 * SQL of the index (0, 1 …) of the plan whose sealed hours contain `at` (epoch ms). The plans' ranges are
 * adjacent, in order. The text is the same for any ms of the same hours, so its rows can be kept.
 */
export const hoursPeriodOf = (at: Sql, plans: readonly Plan[]): Sql =>
  plans.length < 2
    ? sql`toUInt8(0)`
    : join(
        plans
          .slice(1)
          .map(({ range }) => sql`toUInt8(${at} >= ${int(Math.ceil(range.from / HOUR_MS) * HOUR_MS)})`),
        sql` + `,
      );

/** Joins the parts that a plan needs with UNION ALL; returns `empty` if it needs none. */
export const unionAll = (parts: readonly (Sql | null)[], empty: Sql): Sql =>
  join(
    parts.filter((part) => part !== null),
    sql`\nUNION ALL\n`,
  ) || empty;

/** The pieces of the plan that raw rows answer: edges and tail. */
export const rawRanges = (plan: Plan): Range[] =>
  [plan.left, plan.right, plan.tail].filter((range) => range !== null);

/** The edges of the plan. */
export const edgeRanges = ({ left, right }: Plan): Range[] => [left, right].filter((edge) => edge !== null);

/** SQL condition: the instant `at` (epoch ms) lies in one of these hours, which begin at the same minute. */
export function inAnyHour(at: Sql, hours: readonly Span[]): Sql {
  const beside = (hours[0]?.start ?? 0) % HOUR_MS;
  const numbers = hours.map(({ start }) => int((start - beside) / HOUR_MS));
  return sql`intDiv(${at} - ${int(beside)}, ${int(HOUR_MS)}) IN (${join(numbers)})`;
}

export const isEmpty = ({ start, end }: Span): boolean => start >= end;
