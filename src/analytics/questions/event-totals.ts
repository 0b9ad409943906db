import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import { byName } from '../../domain/by-name.ts';
import type { AppId } from '../../domain/ids.ts';
import { epochMs, HOUR_MS, type Range } from '../../domain/time.ts';
import type { EventFacts } from '../ask.ts';
import { EVENT_SUMS } from '../figures.ts';
import { type Plan, plan, rangeOf, spanOf } from '../plan.ts';
import {
  eventsIn,
  hoursPeriodOf,
  inGrains,
  inHours,
  int,
  isEmpty,
  ofApp,
  periodOf,
  rawRanges,
  UTC,
} from '../sql.ts';
import { countedIn, cutHours, fromHoursOr, instantsByKey } from './cut-hours.ts';
import { sumByPeriod } from './periods.ts';

/** The watermark of `traffic`: a view keeps its sums current, so every hour counts as sealed. */
export const ALWAYS_CURRENT = epochMs(Math.floor(Number.MAX_SAFE_INTEGER / HOUR_MS) * HOUR_MS);

type EventType = (typeof EVENT_SUMS)[EventSum];
type EventSum = keyof typeof EVENT_SUMS;
export type EventTotals = { readonly [Name in EventSum]: number };

const ALL_SUMS = Object.keys(EVENT_SUMS) as EventSum[];
const NOTHING = eachSum(ALL_SUMS, () => 0);
const IN_PERIOD = z.object({ ...eachSum(ALL_SUMS, () => z.number()), period: z.number() });

/** Returns a record with a value for each of the sums. */
export function eachSum<Name extends EventSum, Value>(
  names: readonly Name[],
  each: (type: (typeof EVENT_SUMS)[Name]) => Value,
): Record<Name, Value> {
  return byName(names, (name) => each(EVENT_SUMS[name]));
}

/** SQL of the sums over rows of `traffic AS t`. */
export const sumsOfTraffic = (names: readonly EventSum[]): string =>
  names.map((name) => `sum(t.${name}) AS ${name}`).join(', ');

/** SQL of the same sums over raw events. */
export const sumsOfEvents = (names: readonly EventSum[]): string =>
  names.map((name) => `countIf(type = '${EVENT_SUMS[name]}') AS ${name}`).join(', ');

/** Counts the events of each of `ranges`, which are adjacent and in order. */
export async function eventTotals(
  db: Database,
  facts: EventFacts,
  ranges: readonly Range[],
): Promise<EventTotals[]> {
  const plans = ranges.map((range) => plan(range, ALWAYS_CURRENT, 'day'));
  const raw = plans.flatMap(rawRanges);
  const edges: EventEdges<z.infer<typeof IN_PERIOD>> = {
    queryOf: (cut) => ({
      name: 'event edges',
      sql: `SELECT ${periodOf('toUnixTimestamp64Milli(timestamp)', plans)} AS period, ${sumsOfEvents(ALL_SUMS)}
FROM events WHERE ${ofApp(facts.app)} AND ${eventsIn(cut)}
GROUP BY period`,
      row: IN_PERIOD,
    }),
    rowOf: (start, counted) => ({
      period: ranges.findIndex(({ to }) => start <= to),
      ...eachSum(ALL_SUMS, counted),
    }),
  };
  const [whole, ...cut] = await Promise.all([
    sumsOfHours(db, facts, plans, {
      name: 'event sums',
      sql: `SELECT ${hoursPeriodOf('toUnixTimestamp(bucket) * 1000', plans)} AS period, ${sumsOfTraffic(ALL_SUMS)}
FROM traffic AS t WHERE ${ofApp(facts.app)} AND ${inGrains(plans, UTC)}
GROUP BY period`,
      row: IN_PERIOD,
    }),
    ...rawEvents(db, facts, raw, edges),
  ]);
  return sumByPeriod(ranges, NOTHING, [...whole, ...cut.flat()]);
}

/**
 * Returns the rows of `query` about the whole hours of `plans`. If all of these hours are sealed, the rows
 * are cached until one of them gets a late event.
 */
export function sumsOfHours<Row>(
  db: Database,
  facts: EventFacts,
  plans: readonly Plan[],
  query: Query<Row>,
): Promise<readonly Row[]> {
  const hours = plans.map(({ sealed }) => sealed).filter((span) => !isEmpty(span));
  if (hours.length === 0) return Promise.resolve([]);
  return hours.every(({ end }) => end <= facts.until)
    ? facts.of(hours).recall(query, () => db.query(query))
    : db.query(query);
}

/**
 * How to ask for the raw events of edges: by a statement, or as a row made from the cached counts by type.
 */
export interface EventEdges<Row> {
  queryOf(ranges: readonly Range[]): Query<Row>;
  rowOf(start: number, counted: (type: EventType) => number): Row;
}

/** Loads the raw events of ranges. Those before the watermark can be cached. */
export function rawEvents<Row>(
  db: Database,
  facts: EventFacts,
  ranges: readonly Range[],
  { queryOf, rowOf }: EventEdges<Row>,
): Promise<readonly Row[]>[] {
  const sealed = ranges.filter(({ to }) => to < facts.until);
  const live = ranges.filter(({ to }) => to >= facts.until);
  const query = queryOf(sealed);
  const load = fromHoursOr(
    async () => {
      const cut = await cutHours(db, facts, sealed.map(spanOf), eventsOfHour(facts.app));
      return (
        cut?.map((hour) => {
          const counts = new Map(countedIn(hour));
          return rowOf(hour.part.start, (type) => counts.get(type) ?? 0);
        }) ?? null
      );
    },
    () => db.query(query),
  );
  return [
    ...(sealed.length === 0 ? [] : [facts.of(sealed.map(spanOf)).recall(query, load, 'when repeated')]),
    ...(live.length === 0 ? [] : [db.query(queryOf(live))]),
  ];
}

const ALL_TYPES = Object.values(EVENT_SUMS)
  .map((type) => `'${type}'`)
  .join(', ');
const eventsOfHour = (app: AppId) =>
  instantsByKey(
    'event hour',
    z.string(),
    (
      hour,
    ) => `SELECT type, groupArray(toUInt32(toUnixTimestamp64Milli(timestamp) - ${int(hour.start)})) FROM events
WHERE ${ofApp(app)} AND type IN (${ALL_TYPES}) AND ${inHours([rangeOf(hour)])} GROUP BY type`,
  );
