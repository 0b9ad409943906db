import { number, rowOf, text } from '../../clickhouse/row.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { SessionKey } from '../../domain/commits.ts';
import { hourOf } from '../../domain/time.ts';
import { isHeld } from '../../facts/late.ts';
import type { PageFacts } from '../input/app-facts.ts';
import { bySession, type Changes, changesOf, ofSessions } from '../late/changes.ts';
import { sessionName } from '../late/search.ts';
import { rowsForMemory, TooLarge } from '../memory/rows.ts';
import type { Plan } from '../range/plan.ts';
import { instant } from '../range/sql.ts';
import { EVERYTHING, isPaired, type KeyGroup, type KeySums, pairOf } from './pieces.ts';

/*
 * Corrections to page facts for sessions with late events: for each hour and pair, subtracts the counts of the
 * facts and adds the right ones. A late event also changes later hours, in which `prevAt` of its pair moves.
 */

/** A correction to the counts of a session's pair in a sealed hour: to be added (1) or subtracted (-1). */
export interface LateKey {
  readonly sign: 1 | -1;
  /** Epoch ms. */
  readonly hour: number;
  readonly pair: string;
  readonly events: number;
  readonly engagedMs: number;
  readonly engagements: number;
  /**
   * The pair's last occurrence in the session before the hour (epoch ms); -1 for none. Only for pages and errors.
   */
  readonly prevAt: number;
  /** The pair's first occurrence in the hour. */
  readonly firstAt: number;
}

/**
 * Returns the corrections for the plan's sealed hours. Edges and the tail are read from raw events, late ones
 * included. Only `revisits`, which the right edge subtracts, has to be corrected there.
 */
export const lateKeySums = (
  late: readonly LateKey[],
  { range, sealed, right }: Plan,
  { kinds }: KeyGroup,
): KeySums[] =>
  late.flatMap(({ sign, hour, pair, events, engagedMs, engagements, prevAt, firstAt }) => {
    if (!kinds.some((kind) => pair.startsWith(`${kind} `))) return [];
    const isMet = events > 0 && isPaired(pair);
    if (hour >= sealed.start && hour < sealed.end) {
      const sessions = isMet && prevAt < range.from ? sign : 0;
      return [[pair, sign * events, sessions, sign * engagedMs, sign * engagements]];
    }
    // The edge counts each pair of a session once. The facts tell which of them occurred earlier in the range.
    const isRight = right !== null && hour === hourOf(right.from);
    if (!isRight || !isMet || prevAt < range.from || firstAt > right.to) return [];
    return [[pair, 0, -sign, 0, 0]];
  });

/** Limit of events that one statement returns. */
const MOST_EVENTS = 200_000;

/** Returns the corrections for all sessions with late events. Throws `TooLarge` if their events are. */
export const lateKeys = (facts: PageFacts): Promise<readonly LateKey[]> =>
  changesOf(
    facts,
    'keys',
    (sessions) => readChanges(facts, sessions),
    () => 3,
  );

/**
 * The session's start and id; the event's time, pair, whether it is an engagement, its duration, and whether
 * the facts hold it.
 */
const EVENT = rowOf([number, text, number, text, number, number, number]);
type Event = ReturnType<typeof EVENT.parse>;

async function readChanges(
  { db, app, until, lateHours, lateStarts }: PageFacts,
  sessions: readonly SessionKey[],
): Promise<Changes<LateKey>> {
  const { where, params } = ofSessions(app, sessions, lateStarts);
  const events = await rowsForMemory(
    db,
    {
      name: 'late keys',
      sql: sql`SELECT toUnixTimestamp64Milli(started_at), session_id, toUnixTimestamp64Milli(timestamp),
    ${pairOf(EVERYTHING)}, type = 'engagement', duration_ms, ${isHeld('page', lateHours)}
FROM events
WHERE ${where} AND timestamp < ${instant(until)}
LIMIT ${MOST_EVENTS + 1}`,
      row: EVENT,
    },
    {},
    params,
  );
  if (events.length > MOST_EVENTS) throw new TooLarge();
  const found = bySession(events.map((event) => [sessionName(event[0], event[1]), event] as const));
  return new Map([...found].map(([name, own]) => [name, differences(own)]));
}

/** Compares a session's events that the facts hold with all of its events. */
function differences(events: readonly Event[]): LateKey[] {
  const inOrder = events.toSorted(([, , a], [, , b]) => a - b);
  const held = keysOf(inOrder.filter((event) => event[6] === 1));
  const now = keysOf(inOrder);
  return [
    ...[...held]
      .filter(([name, key]) => !isSame(key, now.get(name)))
      .map(([, key]) => ({ ...key, sign: -1 as const })),
    ...[...now]
      .filter(([name, key]) => !isSame(key, held.get(name)))
      .map(([, key]) => ({ ...key, sign: 1 as const })),
  ];
}

type HourOfKey = { -readonly [Name in Exclude<keyof LateKey, 'sign'>]: LateKey[Name] };

const isSame = (a: HourOfKey, b: HourOfKey | undefined): boolean =>
  b !== undefined &&
  a.events === b.events &&
  a.engagedMs === b.engagedMs &&
  a.engagements === b.engagements &&
  a.prevAt === b.prevAt &&
  a.firstAt === b.firstAt;

/** Returns one row for each hour and key. The events are those of one session, in order. */
function keysOf(events: readonly Event[]): Map<string, HourOfKey> {
  const found = new Map<string, HourOfKey>();
  const last = new Map<string, number>();
  for (const [, , at, pair, isEngagement, durationMs] of events) {
    const hour = hourOf(at);
    const name = `${hour} ${pair}`;
    let row = found.get(name);
    if (row === undefined) {
      row = { hour, pair, events: 0, engagedMs: 0, engagements: 0, prevAt: -1, firstAt: -1 };
      found.set(name, row);
    }
    row.engagedMs += durationMs;
    if (isEngagement === 1) {
      row.engagements++;
      continue;
    }
    if (row.events === 0) {
      row.prevAt = last.get(pair) ?? -1;
      row.firstAt = at;
    }
    row.events++;
    last.set(pair, at);
  }
  return found;
}
