import { ofApp } from '../../clickhouse/literals.ts';
import { join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import { byName } from '../../domain/by-name.ts';
import { epochMs, HOUR_MS, hourOf, type Range } from '../../domain/time.ts';
import { EVENT_SUMS } from '../answers/sums.ts';
import type { EventFacts } from '../input/app-facts.ts';
import { planEvents } from '../input/plan-events.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { asOne, byPeriod, type Grid, sliceOf, sliceSql } from '../range/grid.ts';
import { type Plan, plan, spanOf } from '../range/plan.ts';
import { edgeRanges, eventsIn, hoursPeriodOf, inGrains, isEmpty, UTC } from '../range/sql.ts';
import { EVENT_SUM_NAMES, type EventSum, SUMS_OF_TRAFFIC, sealedSums, unsealedHours } from './traffic.ts';

/** For the hours from the watermark on: the sums of every hour are current. */
const ALWAYS_CURRENT = epochMs(Math.floor(Number.MAX_SAFE_INTEGER / HOUR_MS) * HOUR_MS);

export type EventTotals = { readonly [Name in EventSum]: number };
export const TYPES = Object.values(EVENT_SUMS).map(quoted);

/** Names the sums of a row. */
export const eventTotalsOf = (sums: readonly number[] = []): EventTotals =>
  byName(EVENT_SUM_NAMES, (_, i) => sums[i] ?? 0);

/** Counts the events of each of `ranges`, which are adjacent, in order and of the same length. */
export async function eventTotals(facts: EventFacts, ranges: readonly Range[]): Promise<EventTotals[]> {
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first === undefined || last === undefined) return [];
  const grid = byPeriod(first, last);
  const sums = sumByKey(
    await eventSums(facts, ranges, grid, (plans) =>
      hoursPeriodOf(sql`toUnixTimestamp(bucket) * 1000`, plans),
    ),
  );
  return ranges.map((_, i) => eventTotalsOf(sums.get(`${i}`)));
}

/**
 * Returns the sums of events by slice of the grid, which covers the ranges. `sliceOfBucket` is the SQL of the
 * slice of a bucket of `traffic`.
 */
export async function eventSums(
  facts: EventFacts,
  ranges: readonly Range[],
  grid: Grid,
  sliceOfBucket: (plans: readonly Plan[]) => Sql,
): Promise<readonly Row[]> {
  const plans = planEvents(facts, ranges, facts.until, 'day');
  const tails = plans.flatMap(({ tail }) => (tail === null ? [] : plan(tail, ALWAYS_CURRENT, 'hour')));
  const isLastHour = ({ from, to }: Range): boolean => from === hourOf(from) && to === facts.extent?.to;
  const ends = tails.flatMap(edgeRanges);
  const others = ends.filter((end) => !isLastHour(end));
  const [whole, edges, parts, last, hours] = await Promise.all([
    sumsOfHours(facts, plans, sliceOfBucket(plans)),
    fromStore(facts, plans.flatMap(edgeRanges), grid),
    fromStore(facts, others, grid),
    lastHour(facts, ends.find(isLastHour), grid),
    unsealedHours(
      facts,
      'utc',
      tails.map((tail) => tail.sealed),
    ),
  ]);
  return [
    ...whole,
    ...edges,
    ...parts,
    ...last,
    ...hours.map(({ at, sums }): Row => [`${sliceOf(grid, at)}`, ...sums]),
  ];
}

/** Sums of whole sealed hours. */
async function sumsOfHours(facts: EventFacts, plans: readonly Plan[], slice: Sql): Promise<readonly Row[]> {
  const spans = plans.map(({ sealed }) => sealed).filter((span) => !isEmpty(span));
  if (spans.length === 0) return [];
  return sealedSums(
    facts,
    spans,
    'event sums',
    sql`SELECT toString(${slice}) AS slice, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(facts.app)} AND ${inGrains(plans, UTC)} GROUP BY slice`,
  );
}

/**
 * Counts events by type in the app's last hour, up to its last event; nothing if `hour` is undefined. All questions about
 * a version share one reading.
 */
async function lastHour(facts: EventFacts, hour: Range | undefined, grid: Grid): Promise<Row[]> {
  if (hour === undefined) return [];
  const { app, version, live } = facts;
  const rows = await live.latest(`last hour ${app}`, `${version} ${hour.from} ${hour.to}`, () =>
    fromStore(facts, [hour], asOne(hour)),
  );
  return rows.map(([, ...sums]): Row => [`${sliceOf(grid, hour.from)}`, ...sums]);
}

/** Counts events by type in parts of hours. Those of sealed hours are kept. */
async function fromStore(facts: EventFacts, parts: readonly Range[], grid: Grid): Promise<readonly Row[]> {
  if (parts.length === 0) return [];
  return keptRows(
    facts.db,
    facts.of(parts.map(spanOf)),
    'parts of hours, events',
    countsOf(grid, sql`${ofApp(facts.app)} AND ${eventsIn(parts)}`),
  );
}

/** SQL of the numbers of events of each type, by slice. */
export const countsOf = (grid: Grid, where: Sql): Sql =>
  sql`SELECT toString(${sliceSql(grid, sql`toUnixTimestamp64Milli(timestamp)`)}) AS slice, ${join(TYPES.map((type) => sql`countIf(type = ${type})`))}
FROM events WHERE ${where} GROUP BY slice`;
