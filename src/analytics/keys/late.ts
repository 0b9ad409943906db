import { number, rowOf, text } from '../../clickhouse/row.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { SessionKey } from '../../domain/commits.ts';
import { hourOf } from '../../domain/time.ts';
import { isHeld } from '../../facts/late.ts';
import type { PageFacts } from '../input/app-facts.ts';
import { bySession, type Changes, changesOf, ofSessions } from '../late/changes.ts';
import { sessionName } from '../late/search.ts';
import { rowsForMemory, TooLarge } from '../memory/rows.ts';
import { instant } from '../range/sql.ts';
import { EVERYTHING, isPaired, pairOf } from './pieces.ts';

/*
 * Reads the sessions with late events, and how they change page facts: for each hour and pair, the counts of the facts are
 * to be subtracted, and the right ones added. A late event also changes later hours, in which `prevAt` of its pair moves.
 *
 * While a batch is being stored, its events are in the raw table, but not in the facts. If one part of an answer counted them
 * and another did not, a session could be subtracted that was never added. So raw rows of sealed hours leave out what was
 * inserted after the facts were computed, and everything about a session with late events comes from one list of its events.
 */

/** A session's count of a pair in an hour. */
interface HourOfKey {
  /** Epoch ms. */
  readonly hour: number;
  readonly pair: string;
  events: number;
  engagedMs: number;
  engagements: number;
  /**
   * The pair's last occurrence in the session before the hour (epoch ms); -1 for none. Only for pages and errors.
   */
  prevAt: number;
  /** The pair's first occurrence in the hour. */
  firstAt: number;
}

/** A correction to the counts of a session's pair in a sealed hour: to be added (1) or subtracted (-1). */
export type LateKey = Readonly<HourOfKey> & { readonly sign: 1 | -1 };

/** An event before the watermark. */
export interface LateEvent {
  /** Epoch ms. */
  readonly at: number;
  readonly pair: string;
  /** Null for an occurrence of the pair. */
  readonly engagedMs: number | null;
  /** The facts hold it. */
  readonly isHeld: boolean;
  /** By the store's clock, epoch ms. */
  readonly insertedAt: number;
}

/** A session with late events. */
export interface LatePairs {
  readonly name: string;
  /** All its events before the watermark, in order. */
  readonly events: readonly LateEvent[];
  readonly keys: readonly LateKey[];
}

/** The pairs of a session before the watermark whose sessions are counted, each with its last occurrence (epoch ms). */
export const pairsOf = ({ events }: LatePairs): ReadonlyMap<string, number> =>
  new Map(
    events.flatMap(({ at, pair, engagedMs }) =>
      engagedMs === null && isPaired(pair) ? [[pair, at] as const] : [],
    ),
  );

/** Limit of events that one statement returns. */
const MOST_EVENTS = 200_000;

/** Returns all sessions with late events. Throws `TooManyLate`, and `TooLarge` if their events are too many. */
export const latePairs = (facts: PageFacts): Promise<readonly LatePairs[]> =>
  changesOf(
    facts,
    'pairs',
    (sessions) => readChanges(facts, sessions),
    ({ events, keys }) => 3 * (events.length + keys.length),
  );

/**
 * The session's start and id; the event's time, pair, whether it is an engagement, its duration, whether the facts hold it, and
 * when it was inserted.
 */
const EVENT = rowOf([number, text, number, text, number, number, number, number]);

async function readChanges(
  { db, app, until, lateHours, heldUntil, lateStarts }: PageFacts,
  sessions: readonly SessionKey[],
): Promise<Changes<LatePairs>> {
  const { where, params } = ofSessions(app, sessions, lateStarts);
  const rows = await rowsForMemory(
    db,
    {
      name: 'late keys',
      sql: sql`SELECT toUnixTimestamp64Milli(started_at), session_id, toUnixTimestamp64Milli(timestamp),
    ${pairOf(EVERYTHING)}, type = 'engagement', duration_ms, ${isHeld('page', lateHours, heldUntil)},
    toUnixTimestamp64Milli(inserted_at)
FROM events
WHERE ${where} AND timestamp < ${instant(until)}
LIMIT ${MOST_EVENTS + 1}`,
      row: EVENT,
    },
    {},
    params,
  );
  if (rows.length > MOST_EVENTS) throw new TooLarge();
  const found = bySession(
    rows.map(([startedAt, id, at, pair, isEngagement, durationMs, held, insertedAt]) => {
      const engagedMs = isEngagement === 1 ? durationMs : null;
      return [sessionName(startedAt, id), { at, pair, engagedMs, isHeld: held === 1, insertedAt }] as const;
    }),
  );
  return new Map(
    [...found].map(([name, own]) => {
      const events = own.toSorted((a, b) => a.at - b.at);
      return [name, [{ name, events, keys: differences(events) }]];
    }),
  );
}

/** Compares a session's events that the facts hold with all of its events. */
function differences(events: readonly LateEvent[]): LateKey[] {
  const held = keysOf(events.filter(({ isHeld }) => isHeld));
  const now = keysOf(events);
  return [
    ...[...held]
      .filter(([name, key]) => !isSame(key, now.get(name)))
      .map(([, key]) => ({ ...key, sign: -1 as const })),
    ...[...now]
      .filter(([name, key]) => !isSame(key, held.get(name)))
      .map(([, key]) => ({ ...key, sign: 1 as const })),
  ];
}

const isSame = (a: HourOfKey, b: HourOfKey | undefined): boolean =>
  b !== undefined &&
  a.events === b.events &&
  a.engagedMs === b.engagedMs &&
  a.engagements === b.engagements &&
  a.prevAt === b.prevAt &&
  a.firstAt === b.firstAt;

/** Returns one row for each hour and key. The events are those of one session, in order. */
function keysOf(events: readonly LateEvent[]): Map<string, HourOfKey> {
  const found = new Map<string, HourOfKey>();
  const last = new Map<string, number>();
  for (const { at, pair, engagedMs } of events) {
    const hour = hourOf(at);
    const name = `${hour} ${pair}`;
    let row = found.get(name);
    if (row === undefined) {
      row = { hour, pair, events: 0, engagedMs: 0, engagements: 0, prevAt: -1, firstAt: -1 };
      found.set(name, row);
    }
    if (engagedMs !== null) {
      row.engagedMs += engagedMs;
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
