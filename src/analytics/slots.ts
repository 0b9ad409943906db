import type { Database } from '../clickhouse/database.ts';
import { number, rowOf, text } from '../clickhouse/row.ts';
import { join, type Sql, sql } from '../clickhouse/sql.ts';
import { hoursBy } from '../domain/commits.ts';
import { epochMs } from '../domain/time.ts';
import { closed, type SessionFacts } from './ask.ts';
import { finalSessions } from './merged-sessions.ts';
import {
  mergedFor,
  namesOf,
  SESSION_PART,
  type SessionPart,
  type Single,
  sessionSql,
  singleSession,
} from './singles.ts';
import { inRanges, int, ofApp } from './sql.ts';
import type { OpenSession, Visitors } from './visitors.ts';

/** If more sessions are unsealed, they are counted in the store. */
const MOST_OPEN = 50_000;
/**
 * Unsealed sessions are kept by the slot in which they start. Between two erasures events are only ever added,
 * so a slot with the same number of events holds the same sessions. The smaller the slots, the fewer sessions are read
 * again. With other processes, all slots are counted after new events, so there must not be too many.
 */
const slotMsOf = ({ exclusive }: Database): number => (exclusive ? 1_000 : 10_000);
/** Up to this many changed slots, the statement names each. */
const MOST_NAMED = 2_000;
/** With up to this many events, the sessions of changed slots are read on one core, which takes less processor time. */
const FEW_EVENTS = 20_000;

interface Slot {
  readonly events: number;
  readonly sessions: readonly OpenSession[];
}
export interface Slots {
  /** In order of time. */
  readonly slots: ReadonlyMap<number, Slot>;
  /** All commits up to here were visible when they were read; null if that is not known. */
  readonly position: number | null;
}
/** The number of events of each slot, in order of time. */
type SlotCounts = readonly (readonly [slot: number, events: number])[];
export const NO_SLOTS: Slots = { slots: new Map(), position: null };

/** All sessions, in order of their start. A loop, because there are thousands. */
export function sessionsIn({ slots }: Slots): OpenSession[] {
  const all: OpenSession[] = [];
  for (const { sessions } of slots.values()) for (const session of sessions) all.push(session);
  return all;
}

const slotOf = (db: Database, start: number): number => Math.floor(start / slotMsOf(db));
const slotOfStart = (db: Database): Sql => sql`intDiv(toUnixTimestamp64Milli(s.started_at), ${slotMsOf(db)})`;
const SLOT = rowOf([number, number, number]);

/** Counts the events of the unsealed sessions by slot; null if there are too many sessions. */
const countSlots = ({ db, app, until, version, live }: SessionFacts): Promise<SlotCounts | null> =>
  live.latest(`slots ${app}`, version, async () => {
    const rows = await db.rows({
      name: 'unsealed slots',
      sql: sql`SELECT ${slotOfStart(db)}, sum(s.events), count() FROM sessions AS s
WHERE ${ofApp(app)} AND ${inRanges(sql`s.started_at`, [{ ...closed({ from: null, to: null }), from: until }])} GROUP BY 1 LIMIT ${MOST_OPEN + 1}`,
      row: SLOT,
    });
    return rows.reduce((sum, [, , own]) => sum + own, 0) > MOST_OPEN
      ? null
      : rows.map(([slot, events]) => [slot, events] as const).sort(([a], [b]) => a - b);
  });

/** A way to count sessions, the visitors that it found, and the slots that it read last. */
export interface Reader {
  readonly single: Single;
  readonly visitors: Visitors;
  readonly known: Slots;
}

/**
 * Reads the unsealed sessions by slot, for each of the readers. Slots that all of them know as they are now are not read
 * again. Null if there are too many sessions.
 */
export async function readSlots(facts: SessionFacts, readers: readonly Reader[]): Promise<Slots[] | null> {
  if (facts.until < facts.keptFrom) return null;
  const changed = committedSlots(facts, readers) ?? (await countedSlots(facts, readers));
  if (changed === null) return null;
  const read = changed.length === 0 ? [] : await readSessions(facts, readers, changed);
  const { position } = facts;
  const all = readers.map(({ known }, i) => ({ slots: withRead(known.slots, read[i]), position }));
  return all.every(isFew) ? all : null;
}

/** Puts slots that were read in the place of known ones. */
function withRead(known: Slots['slots'], read: Slots['slots'] = new Map()): Slots['slots'] {
  const all = new Map([...known, ...read]);
  return all.size === known.size ? all : new Map([...all].sort(([a], [b]) => a - b));
}

function isFew({ slots }: Slots): boolean {
  let count = 0;
  for (const { sessions } of slots.values()) count += sessions.length;
  return count <= MOST_OPEN;
}

/**
 * Finds the slots of the events that were committed since the readers read, with the number of events that were known
 * then; null if the commits are not known.
 */
function committedSlots({ db, app, until }: SessionFacts, readers: readonly Reader[]): SlotCounts | null {
  const found = new Map<number, number>();
  for (const { known } of readers) {
    const commits = db.commitsSince(app, known.position);
    if (commits === null) return null;
    const counts = commits.flatMap((commit) => hoursBy('session', commit));
    for (const { startedAt } of counts.flatMap(({ sessions }) => sessions)) {
      const slot = slotOf(db, startedAt);
      if (startedAt >= until) found.set(slot, known.slots.get(slot)?.events ?? 0);
    }
  }
  return [...found].sort(([a], [b]) => a - b);
}

/** Finds the slots whose number of events is not the one that all readers know; null if there are too many sessions. */
async function countedSlots(facts: SessionFacts, readers: readonly Reader[]): Promise<SlotCounts | null> {
  const counts = await countSlots(facts);
  const isChanged = ([slot, events]: SlotCounts[number]): boolean =>
    readers.some(({ known }) => known.slots.get(slot)?.events !== events);
  return counts?.filter(isChanged) ?? null;
}

/** The start, the number of events, the visitor, and a part for each way to count. */
const SESSION = rowOf([number, number, text], SESSION_PART);
const FIRST_PART = 3;

/** Reads all sessions of these slots, which are in order. */
async function readSessions(
  facts: SessionFacts,
  readers: readonly Reader[],
  counts: SlotCounts,
): Promise<Slots['slots'][]> {
  const slotMs = slotMsOf(facts.db);
  const changed = counts.map(([slot]) => slot);
  const range = {
    from: epochMs(Math.max((changed[0] ?? 0) * slotMs, facts.until)),
    to: epochMs(((changed.at(-1) ?? 0) + 1) * slotMs - 1),
  };
  const singles = readers.map(({ single }) => single);
  const columns = ['events', ...mergedFor(singles)] as const;
  const only =
    changed.length <= MOST_NAMED ? sql`${slotOfStart(facts.db)} IN (${join(changed.map(int))})` : sql`true`;
  const rows = await facts.db.rows(
    {
      name: `unsealed sessions, ${namesOf(singles)}`,
      sql: sql`SELECT toUnixTimestamp64Milli(started_at), events, ${sessionSql(singles)}
FROM (${finalSessions(facts.app, range, columns, only)})`,
      row: SESSION,
    },
    { parallel: counts.reduce((sum, [, events]) => sum + events, 0) > FEW_EVENTS },
  );
  return readers.map(({ visitors, single }, i) => {
    const read = new Map(changed.map((slot) => [slot, { events: 0, sessions: [] as OpenSession[] }]));
    // By position, and without copies: there are thousands of rows.
    for (const row of rows) {
      const slot = read.get(slotOf(facts.db, row[0]));
      if (slot === undefined) continue;
      slot.events += row[1];
      const part = row[FIRST_PART + i] as SessionPart;
      slot.sessions.push(visitors.of(singleSession(single, 1, row[0], row[2], part)));
    }
    for (const { sessions } of read.values()) sessions.sort((a, b) => a.startedAt - b.startedAt);
    return read;
  });
}
