import { DAY_MS } from '../domain/time.ts';
import type { PageFacts } from './ask.ts';
import { type HourSource, hoursOf } from './hours.ts';
import { EVERYTHING, isPaired, type KeyGroup, type KeySums, NO_SUMS, pairOf } from './key-rows.ts';
import { type Plan, rangeOf, type Span, spanOf } from './plan.ts';
import { edgeRanges, inHours, inMs, inSpans, isEmpty, ofApp } from './sql.ts';

/** Counts the keys of the plan's edges, and subtracts pairs that are counted twice because of them. */
export async function edgeKeys(facts: PageFacts, pieces: Plan, group: KeyGroup): Promise<KeySums[]> {
  const isAsked = (pair: string): boolean => group.kinds.some((kind) => pair.startsWith(`${kind} `));
  const [events, first, last] = await Promise.all([
    hoursOf(facts.db, eventsOf(facts), edgeRanges(pieces).map(spanOf)),
    group.paired === null ? [] : metInLeftEdge(facts, pieces),
    group.paired === null ? [] : metBeforeRightEdge(facts, pieces),
  ]);
  return [
    ...events.flatMap(({ part, hour }) =>
      [...hour].filter(([pair]) => isAsked(pair)).flatMap(([pair, rows]) => sumsIn(part, pair, rows)),
    ),
    ...[...first, ...last]
      .filter(([pair, sessions]) => sessions > 0 && isAsked(pair))
      .map(([pair, sessions]) => ({ ...NO_SUMS, pair, sessions: -sessions })),
  ];
}

const MS = 'toUnixTimestamp64Milli(timestamp)';
/** Marks an engagement, in the place of the time at which the pair occurred before. */
const ENGAGEMENT = -2;

/**
 * The events of an hour by pair, of all kinds, so that all questions share them. A row is an event: its time,
 * the time of the session's event before with the same key (-1: none in the hour), and its duration.
 */
const eventsOf = ({ app, events }: PageFacts): HourSource => ({
  name: 'edges, keys',
  at: 'event.1',
  keys: '[pair]',
  others: ['event.2', 'event.3'],
  from: (hours) => `
    FROM
    (
        SELECT ${pairOf(EVERYTHING)} AS pair,
            arraySort(groupArrayIf(${MS}, type != 'engagement')) AS met,
            arrayJoin(arrayConcat(
                arrayMap((one, before) -> (one, before, toInt64(0)), met, arraySlice(arrayPushFront(met, toInt64(-1)), 1, length(met))),
                groupArrayIf((${MS}, toInt64(${ENGAGEMENT}), toInt64(duration_ms)), type = 'engagement'))) AS event
        FROM events
        WHERE ${ofApp(app)} AND type IN (${EVERYTHING.types}) AND ${inHours(hours.map(rangeOf))}
        GROUP BY pair, session_id, started_at, toStartOfHour(timestamp)
    )`,
  memoryOf: (hour) => events.of([hour]),
});

/** Sums the events of a pair in a part of the hour. A session counts at its first event in the part. */
function sumsIn({ start, end }: Span, pair: string, rows: Float64Array): KeySums[] {
  let [events, sessions, engagedMs, engagements] = [0, 0, 0, 0];
  for (let i = 0; i < rows.length; i += 3) {
    const at = rows[i] as number;
    if (at < start || at >= end) continue;
    const before = rows[i + 1] as number;
    if (before === ENGAGEMENT) {
      engagements++;
      engagedMs += rows[i + 2] as number;
    } else {
      events++;
      if (before < start) sessions++;
    }
  }
  if (events === 0 && engagements === 0) return [];
  return [{ pair, events, sessions: isPaired(pair) ? sessions : 0, engagedMs, engagements }];
}

type Counts = readonly (readonly [pair: string, sessions: number])[];

const PAIR = "concat(toString(v.kind), ' ', v.key)";

/** Counts the pairs of the sealed hours that occurred in the left edge. They lie within the day after it. */
async function metInLeftEdge({ db, where, cache }: PageFacts, { left, sealed }: Plan): Promise<Counts> {
  if (left === null || isEmpty(sealed)) return [];
  const firstDay = { start: sealed.start, end: Math.min(sealed.end, sealed.start + DAY_MS) };
  const source = {
    name: 'revisits of a first hour',
    at: 'prev_at',
    keys: `[${PAIR}]`,
    others: [],
    from: (hours: readonly Span[]) =>
      `FROM revisits AS v WHERE ${where} AND ${inSpans('v.hour', [firstDay])} AND ${inMs('prev_at', hours)}`,
    memoryOf: () => cache,
  };
  const { start, end } = spanOf(left);
  const [cut] = await hoursOf(db, source, [{ start, end }]);
  return [...(cut?.hour ?? [])].map(([pair, rows]) => [
    pair,
    rows.filter((prevAt) => prevAt >= start && prevAt < end).length,
  ]);
}

/** Counts the pairs of the right edge that occurred in the range before its hour. */
async function metBeforeRightEdge({ db, where, cache }: PageFacts, { right, range }: Plan): Promise<Counts> {
  if (right === null) return [];
  const source = {
    name: 'revisits of a last hour',
    at: 'first_at',
    keys: `[${PAIR}]`,
    others: ['prev_at'],
    from: (hours: readonly Span[]) => `FROM revisits AS v WHERE ${where} AND ${inSpans('v.hour', hours)}`,
    memoryOf: () => cache,
  };
  const [cut] = await hoursOf(db, source, [spanOf(right)]);
  return [...(cut?.hour ?? [])].map(([pair, rows]) => {
    let sessions = 0;
    for (let i = 0; i < rows.length; i += 2) {
      if ((rows[i] as number) <= right.to && (rows[i + 1] as number) >= range.from) sessions++;
    }
    return [pair, sessions];
  });
}
