import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { Facts, PageFacts } from '../ask.ts';
import { type Plan, rangeOf, type Span, spanOf } from '../plan.ts';
import { edgeRanges, inHours, inMs, inSpans, int, isEmpty, ofApp } from '../sql.ts';
import { countBefore, countedIn, cutHours, type HourRows, instantsByKey, pairsByKey } from './cut-hours.ts';
import { EVERYTHING, type KeyGroup } from './key-rows.ts';

/** The sums of a key. */
export interface KeySums {
  readonly kind: string;
  readonly key: string;
  readonly events: number;
  readonly sessions: number;
  readonly engaged_ms: number;
  readonly engagements: number;
}

/** Returns the rows of `edgeRows` from whole cached hours; null if an hour is asked for the first time. */
export async function edgesOfHours(
  db: Database,
  facts: PageFacts,
  plan: Plan,
  group: KeyGroup,
): Promise<readonly KeySums[] | null> {
  const [events, first, last] = await Promise.all([
    cutHours(db, facts.events, edgeRanges(plan).map(spanOf), keysOfHour(facts.app)),
    group.paired === null ? [] : pairsInLeftEdge(db, facts, plan),
    group.paired === null ? [] : pairsInRightEdge(db, facts, plan),
  ]);
  if (events === null || first === null || last === null) return null;
  const again = [...first, ...last]
    .filter(([[kind], sessions]) => sessions > 0 && group.kinds.includes(kind))
    .map(([[kind, key], sessions]) => ({ ...NO_SUMS, kind, key, sessions: -sessions }));
  return [...events.flatMap(({ part, hour }) => hour.sumsIn(part, group.kinds)), ...again];
}

export const NO_SUMS = { events: 0, sessions: 0, engaged_ms: 0, engagements: 0 };

/** The kinds of keys whose distinct sessions are counted. */
export const PAIRED_KINDS: readonly string[] = ['page', 'error'];
const OF_PAIRED_KINDS = `v.kind IN (${PAIRED_KINDS.map((kind) => `'${kind}'`).join(', ')})`;

const KIND_AND_KEY = z.tuple([z.string(), z.string()]);
type Counts = readonly (readonly [z.infer<typeof KIND_AND_KEY>, number])[];

/** Counts the pairs of the sealed hours that occurred in the left edge. They lie within the day after it. */
async function pairsInLeftEdge(db: Database, facts: Facts, { left, sealed }: Plan): Promise<Counts | null> {
  if (left === null || isEmpty(sealed)) return [];
  const firstDay = { start: sealed.start, end: Math.min(sealed.end, sealed.start + DAY_MS) };
  const cut = await cutHours(
    db,
    facts,
    [spanOf(left)],
    instantsByKey(
      'revisits of a first hour',
      KIND_AND_KEY,
      (hour) => `SELECT (toString(kind), key), groupArray(toUInt32(prev_at - ${int(hour.start)}))
FROM revisits AS v
WHERE ${facts.where} AND ${OF_PAIRED_KINDS} AND ${inSpans('v.hour', [firstDay])} AND ${inMs('prev_at', [hour])} GROUP BY kind, key`,
    ),
  );
  return cut?.flatMap(countedIn) ?? null;
}

/** Counts the pairs of the right edge that occurred in the range before its hour. */
async function pairsInRightEdge(db: Database, facts: Facts, { right, range }: Plan): Promise<Counts | null> {
  if (right === null) return [];
  const cut = await cutHours(
    db,
    facts,
    [spanOf(right)],
    pairsByKey(
      'revisits of a last hour',
      KIND_AND_KEY,
      (hour) => `SELECT (toString(kind), key), groupArray((first_at, prev_at)) FROM revisits AS v
WHERE ${facts.where} AND ${OF_PAIRED_KINDS} AND ${inSpans('v.hour', [hour])} GROUP BY kind, key`,
    ),
  );
  return (
    cut?.flatMap(({ part, hour }) =>
      hour.map(
        ({ key, pairs }) =>
          [key, pairs.countIn(part, Number.POSITIVE_INFINITY) - pairs.countIn(part, range.from)] as const,
      ),
    ) ?? null
  );
}

/**
 * Kind, key, the times of the key's events by session, and its engagements (time, duration). Times are ms
 * after the hour's start.
 */
const KEY_ROW = z.tuple([
  z.string(),
  z.string(),
  z.array(z.array(z.number())),
  z.array(z.tuple([z.number(), z.number()])),
]);

/** Loads events of every kind, so that questions about different kinds share the cached hour. */
const keysOfHour = (app: AppId): HourRows<z.infer<typeof KEY_ROW>, KeysOfHour> => ({
  name: 'key hour',
  sql: (hour) => `SELECT kind, key, groupArrayIf(met, notEmpty(met)), groupArrayArray(engaged)
FROM
(
    SELECT ${EVERYTHING.kind} AS kind, toString(${EVERYTHING.key}) AS key,
        groupArrayIf(${offsetFrom(hour)}, type != 'engagement') AS met,
        groupArrayIf((${offsetFrom(hour)}, duration_ms), type = 'engagement') AS engaged
    FROM events
    WHERE ${ofApp(app)} AND type IN (${EVERYTHING.types}) AND ${inHours([rangeOf(hour)])}
    GROUP BY kind, key, session_id, started_at
)
GROUP BY kind, key`,
  row: KEY_ROW,
  make: (rows, hour) => new KeysOfHour(rows, hour),
});

const offsetFrom = ({ start }: Span): string => `toUInt32(toUnixTimestamp64Milli(timestamp) - ${int(start)})`;

const BEFORE_THE_HOUR = -1;

/**
 * Rows of three numbers, sorted by the first: the offset (ms after the hour's start), the number of the key,
 * and a value.
 */
class InOrder {
  readonly #rows: Int32Array;

  constructor(rows: [number, number, number][]) {
    this.#rows = Int32Array.from(rows.sort(([a], [b]) => a - b).flat());
  }

  /** Returns the rows from `start` to `end` (exclusive) as one flat array. */
  within(start: number, end: number): Int32Array {
    return this.#rows.subarray(countBefore(this.#rows, start, 3) * 3, countBefore(this.#rows, end, 3) * 3);
  }
}

/** The cached events of an hour. */
class KeysOfHour {
  readonly #hour: number;
  readonly #keys: readonly { readonly kind: string; readonly key: string; readonly isPaired: boolean }[];
  /** The value is the offset of the same pair's previous event. */
  readonly #events: InOrder;
  /** The value is the duration. */
  readonly #engagements: InOrder;

  constructor(rows: readonly z.infer<typeof KEY_ROW>[], hour: number) {
    this.#hour = hour;
    this.#keys = rows.map(([kind, key]) => ({ kind, key, isPaired: PAIRED_KINDS.includes(kind) }));
    const events: [number, number, number][] = [];
    const engagements: [number, number, number][] = [];
    for (const [key, [, , sessions, engaged]] of rows.entries()) {
      for (const offsets of sessions) {
        let prev = BEFORE_THE_HOUR;
        for (const offset of offsets.sort((a, b) => a - b)) {
          events.push([offset, key, prev]);
          prev = offset;
        }
      }
      for (const [offset, ms] of engaged) engagements.push([offset, key, ms]);
    }
    this.#events = new InOrder(events);
    this.#engagements = new InOrder(engagements);
  }

  /** Sums a part of the hour, for keys of `kinds`. A pair counts at its first event in the part. */
  sumsIn(part: Span, kinds: readonly string[]): KeySums[] {
    const [start, end] = [part.start - this.#hour, part.end - this.#hour];
    const count = this.#keys.length;
    const events = new Uint32Array(count);
    const sessions = new Uint32Array(count);
    const engagements = new Uint32Array(count);
    const engagedMs = new Float64Array(count);
    const met = this.#events.within(start, end);
    for (let i = 0; i < met.length; i += 3) {
      const key = met[i + 1] as number;
      events[key] = (events[key] as number) + 1;
      if ((met[i + 2] as number) < start) sessions[key] = (sessions[key] as number) + 1;
    }
    const engaged = this.#engagements.within(start, end);
    for (let i = 0; i < engaged.length; i += 3) {
      const key = engaged[i + 1] as number;
      engagements[key] = (engagements[key] as number) + 1;
      engagedMs[key] = (engagedMs[key] as number) + (engaged[i + 2] as number);
    }
    const found: KeySums[] = [];
    for (const [number, { kind, key, isPaired }] of this.#keys.entries()) {
      if (events[number] === 0 && engagements[number] === 0) continue;
      if (!kinds.includes(kind)) continue;
      // Written out: with object spread, thousands of rows take three times as long.
      found.push({
        kind,
        key,
        events: events[number] as number,
        sessions: isPaired ? (sessions[number] as number) : 0,
        engaged_ms: engagedMs[number] as number,
        engagements: engagements[number] as number,
      });
    }
    return found;
  }
}
