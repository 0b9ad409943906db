import { sql } from '../../clickhouse/sql.ts';
import { byName } from '../../domain/by-name.ts';
import { DAY_MS, type Range } from '../../domain/time.ts';
import type { PageFacts } from '../input/app-facts.ts';
import type { Hour } from '../memory/hour.ts';
import { byTurn, COUNTED, type HourSource, hoursOf } from '../memory/hours.ts';
import type { Row } from '../memory/rows.ts';
import { type Plan, rangeOf, type Span, spanOf } from '../range/plan.ts';
import { edgeRanges, inHours, inMs, inSpans, insertedUntil, int, isEmpty, ofApp } from '../range/sql.ts';
import { EVERYTHING, isPaired, KEY_SUMS, type KeyGroup, type KeySum, pairOf } from './pieces.ts';

/** Splits the edges: memory counts some, and the store the others. */
export function edgesByTurn(
  facts: PageFacts,
  pieces: Plan,
): { readonly inMemory: Plan; readonly inStore: Plan } {
  const { left, right } = pieces;
  const { inStore } = byTurn(eventsOf(facts), edgeRanges(pieces).map(spanOf));
  const isCounted = (edge: Range | null): boolean => inStore.some(({ start }) => start === edge?.from);
  return {
    inMemory: { ...pieces, left: isCounted(left) ? null : left, right: isCounted(right) ? null : right },
    inStore: { ...pieces, left: isCounted(left) ? left : null, right: isCounted(right) ? right : null },
  };
}

/** Counts the keys of the plan's edges, and subtracts pairs that are counted twice because of them. */
export async function edgeKeys(
  facts: PageFacts,
  pieces: Plan,
  group: KeyGroup,
  sums: readonly KeySum[],
): Promise<Row[]> {
  const kinds = group.kinds.map((kind) => `${kind} `);
  const isAsked = (pair: string): boolean => kinds.some((kind) => pair.startsWith(kind));
  const [events, first, last] = await Promise.all([
    hoursOf(facts.db, eventsOf(facts), edgeRanges(pieces).map(spanOf)),
    group.paired === null ? [] : metInLeftEdge(facts, pieces),
    group.paired === null ? [] : metBeforeRightEdge(facts, pieces),
  ]);
  return [
    ...events.flatMap(({ part, hour }) => sumsIn(part, hour, sums, isAsked)),
    ...[...first, ...last]
      .filter(([pair]) => isAsked(pair))
      .map(([pair, sessions]): Row => [pair, ...sums.map((sum) => (sum === 'sessions' ? -sessions : 0))]),
  ];
}

/** The duration of an event that is no engagement. */
const NO_ENGAGEMENT = -1;

/** The events of an hour by pair, of all kinds, so that all questions share them, with their engagement (ms). */
const eventsOf = ({ app, heldUntil, cache }: PageFacts): HourSource => ({
  name: 'edges, keys',
  at: sql`toUnixTimestamp64Milli(timestamp)`,
  key: pairOf(EVERYTHING),
  others: [sql`if(type = 'engagement', toInt64(duration_ms), ${int(NO_ENGAGEMENT)})`],
  // The session, and its start: twice the ms, and one more for engagement, which is no occurrence of the pair. The store
  // numbers two integers fastest.
  repeats: [sql`sipHash64(session_id)`, sql`toUnixTimestamp64Milli(started_at) * 2 + (type = 'engagement')`],
  from: (hours) =>
    sql`FROM events WHERE ${ofApp(app)} AND type IN (${EVERYTHING.types}) AND ${inHours(hours.map(rangeOf))}
    AND ${insertedUntil(heldUntil)}`,
  // The first question does not ask for hours.
  countedTimes: COUNTED - 1,
  isLimited: true,
  memoryOf: () => cache,
});

/**
 * Sums the events of each pair in a part of the hour. A session counts at its first event in the part. Typed
 * arrays, because an hour has tens of thousands of events.
 */
function sumsIn(part: Span, hour: Hour, sums: readonly KeySum[], isAsked: (pair: string) => boolean): Row[] {
  const { keys, keyOf, before } = hour;
  const [engaged] = hour.others;
  const all = byName(KEY_SUMS, () => new Float64Array(keys.length));
  const { events, sessions, engagedMs, engagements } = all;
  const add = (to: Float64Array, key: number, n: number): void => {
    to[key] = (to[key] as number) + n;
  };
  const [first, end] = hour.rowsIn(part);
  for (let row = first; row < end; row++) {
    const key = keyOf[row] as number;
    const ms = engaged?.[row] as number;
    if (ms === NO_ENGAGEMENT) {
      add(events, key, 1);
      if ((before[row] as number) < part.start) add(sessions, key, 1);
    } else {
      add(engagements, key, 1);
      add(engagedMs, key, ms);
    }
  }
  const asked = sums.map((sum) => ({ values: all[sum], isOfPairs: sum === 'sessions' }));
  const found: Row[] = [];
  for (const [key, pair] of keys.entries()) {
    if ((events[key] === 0 && engagements[key] === 0) || !isAsked(pair)) continue;
    const isCounted = isPaired(pair);
    found.push([
      pair,
      ...asked.map(({ values, isOfPairs }) => (isCounted || !isOfPairs ? (values[key] as number) : 0)),
    ]);
  }
  return found;
}

type Counts = Iterable<readonly [pair: string, sessions: number]>;

const PAIR = sql`concat(toString(v.kind), ' ', v.key)`;

/** Counts the pairs of the sealed hours that occurred in the left edge. They lie within the day after it. */
async function metInLeftEdge({ db, where, cache }: PageFacts, { left, sealed }: Plan): Promise<Counts> {
  if (left === null || isEmpty(sealed)) return [];
  const firstDay = { start: sealed.start, end: Math.min(sealed.end, sealed.start + DAY_MS) };
  const source = {
    name: 'revisits of a first hour',
    at: sql`prev_at`,
    key: PAIR,
    others: [],
    from: (hours: readonly Span[]) =>
      sql`FROM revisits AS v WHERE ${where} AND ${inSpans(sql`v.hour`, [firstDay])} AND ${inMs(sql`prev_at`, hours)}`,
    isLimited: true,
    memoryOf: () => cache,
  };
  const [cut] = await hoursOf(db, source, [spanOf(left)]);
  return cut === undefined ? [] : cut.hour.countByKey(cut.part);
}

/** Counts the pairs of the right edge that occurred in the range before its hour. */
async function metBeforeRightEdge({ db, where, cache }: PageFacts, { right, range }: Plan): Promise<Counts> {
  if (right === null) return [];
  const source = {
    name: 'revisits of a last hour',
    at: sql`first_at`,
    key: PAIR,
    others: [sql`prev_at`],
    from: (hours: readonly Span[]) =>
      sql`FROM revisits AS v WHERE ${where} AND ${inSpans(sql`v.hour`, hours)}`,
    isLimited: true,
    memoryOf: () => cache,
  };
  const [cut] = await hoursOf(db, source, [spanOf(right)]);
  if (cut === undefined) return [];
  const { part, hour } = cut;
  const [prevs] = hour.others;
  return hour.countByKey(part, (row) => (prevs?.[row] as number) >= range.from);
}
