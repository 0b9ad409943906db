import { bucket, inEachHour, inRanges, int, ofApp } from '../../clickhouse/literals.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { asSpans, HOUR_MS, type Span } from '../../domain/time.ts';
import type { EventFacts, PageFacts } from '../input/app-facts.ts';
import { assertKept, planEvents } from '../input/plan-events.ts';
import { keptRows, type Row } from '../memory/rows.ts';
import { boundsOf, type Grid, sliceOf, sliceSql } from '../range/grid.ts';
import { rangeOf } from '../range/plan.ts';
import { eventsIn, inAnyHour, isEmpty } from '../range/sql.ts';
import { quarterSums } from './quarters.ts';
import { countsOf } from './totals.ts';
import {
  HALF_HOURS,
  HOURS,
  type HoursOf,
  hourAt,
  SUMS_OF_TRAFFIC,
  sealedSums,
  unsealedHours,
} from './traffic.ts';

/**
 * Returns the sums of events by slice of a grid of any slices. `traffic` has the sums of hours that lie in one slice. Of the
 * others, which a slice or the range cuts, quarters or raw events are counted. Throws `beyond_retention` if such an hour lies
 * before the horizon.
 */
export async function sliceSums(pages: PageFacts, grid: Grid): Promise<Row[]> {
  const facts = pages.events;
  const of = hoursOf(grid);
  if (of === 'utc') planEvents(facts, [grid], facts.until);
  const cut = cutHours(grid, of);
  if (cut.some(({ start }) => start < facts.horizon)) {
    assertKept(
      facts.extent,
      [grid],
      facts.horizon,
      'Points of this time zone do not begin at whole hours, UTC. They need single events of this app, which are',
    );
  }
  const hours = { start: hourAfter(grid.from, of), end: hourAt(grid.to + 1, of) };
  const firstUnsealed = facts.until - HOURS[of].earlierMs;
  const until = Math.min(Math.max(hours.start, firstUnsealed), hours.end);
  const [sealed, unsealed, parts] = await Promise.all([
    sealedHours(facts, grid, of, { start: hours.start, end: until }, cut),
    unsealedHours(facts, of, [{ start: until, end: hours.end }]),
    cutSums(pages, grid, of, cut),
  ]);
  const isCut = new Set(cut.map(({ start }) => start));
  const whole = unsealed.filter(({ at }) => !isCut.has(at));
  return [...sealed, ...whole.map(({ at, sums }): Row => [`${sliceOf(grid, at)}`, ...sums]), ...parts];
}

/** Sums of the parts of these hours that lie in the range. */
async function cutSums(
  pages: PageFacts,
  grid: Grid,
  of: HoursOf,
  cut: readonly Span[],
): Promise<readonly Row[]> {
  const { rows, others } = await quarterSums(pages, grid, of, cut);
  return [...rows, ...(await rawHours(pages.events, grid, others))];
}

const hourAfter = (at: number, of: HoursOf): number => hourAt(at + HOUR_MS - 1, of);
const isHour = (at: number, of: HoursOf): boolean => hourAt(at, of) === at;

/** The hours of `traffic` of which the slices cut fewer. */
const hoursOf = ({ from, to, starts = [] }: Grid): HoursOf =>
  from >= HALF_HOURS.from && to <= HALF_HOURS.to && starts.some((at) => isHour(at, 'tehran'))
    ? 'tehran'
    : 'utc';

/** Hours that lie in several slices, or partly outside of the range, in order. */
function cutHours(grid: Grid, of: HoursOf): Span[] {
  const bounds = boundsOf(grid);
  const hours = bounds.filter((at) => !isHour(at, of)).map((at) => hourAt(at, of));
  return [...new Set(hours)].map((start) => ({ start, end: start + HOUR_MS }));
}

/** Sums of sealed hours, without those that are cut. */
async function sealedHours(
  facts: EventFacts,
  grid: Grid,
  of: HoursOf,
  hours: Span,
  cut: readonly Span[],
): Promise<readonly Row[]> {
  const others = cut.filter(({ start }) => start >= hours.start && start < hours.end);
  if (isEmpty(hours) || others.length * HOUR_MS === hours.end - hours.start) return [];
  const without =
    others.length === 0 ? sql`` : sql` AND bucket NOT IN (${join(others.map(({ start }) => bucket(start)))})`;
  const statement = sql`SELECT toString(${sliceSql(grid, sql`toUnixTimestamp(bucket) * 1000`)}) AS slice, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(facts.app)} AND grain = ${int(HOURS[of].code)} AND bucket >= ${bucket(hours.start)} AND bucket < ${bucket(hours.end)}${without} GROUP BY slice`;
  return sealedSums(facts, [hours], 'slices, sums of events', statement);
}

/** Up to this many ranges are compared one by one. */
const FEW_RANGES = 4;

/** Counts the raw events of the parts of these hours that lie in the range. */
async function rawHours(facts: EventFacts, grid: Grid, cut: readonly Span[]): Promise<readonly Row[]> {
  const parts = asSpans(cut.map(({ start }) => start)).map(({ start, end }) => ({
    start: Math.max(start, grid.from),
    end: Math.min(end, grid.to + 1),
  }));
  if (parts.length === 0) return [];
  const ranges = parts.map(rangeOf);
  const where: Sql =
    parts.length <= FEW_RANGES ? eventsIn(ranges) : sql`${inEachHour(ranges)} AND ${isPart(grid, cut)}`;
  const statement = countsOf(grid, sql`${ofApp(facts.app)} AND ${where}`);
  return keptRows(facts.db, facts.of(parts), 'slices, raw events', statement, { parallel: true });
}

/** SQL condition: the event lies in the range and in one of these hours. */
function isPart(grid: Grid, cut: readonly Span[]): Sql {
  return sql`${inRanges(sql`timestamp`, [grid])} AND ${inAnyHour(sql`toUnixTimestamp64Milli(timestamp)`, cut)}`;
}
