import { number, rowOf, text } from '../clickhouse/row.ts';
import { join, sql } from '../clickhouse/sql.ts';
import { epochMs, floorTo } from '../domain/time.ts';
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
 * so a slot with the same number of events holds the same sessions.
 */
const SLOT_MS = 10_000;
const MOST_SLOTS = 20_000;
/** Up to this many changed slots, the statement names each. */
const MOST_NAMED = 2_000;
/** With up to this many events, the sessions of changed slots are read on one core, which takes less processor time. */
const FEW_EVENTS = 20_000;

interface Slot {
  readonly events: number;
  readonly sessions: readonly OpenSession[];
}
export type Slots = ReadonlyMap<number, Slot>;
/** The number of events of each slot, in order of time. */
type SlotCounts = readonly (readonly [slot: number, events: number])[];
export const NO_SLOTS: Slots = new Map();

/** All sessions, in order of their start. A loop, because there are thousands. */
export function sessionsIn(slots: Slots): OpenSession[] {
  const all: OpenSession[] = [];
  for (const { sessions } of slots.values()) for (const session of sessions) all.push(session);
  return all;
}

const SLOT_OF_START = sql`intDiv(toUnixTimestamp64Milli(s.started_at), ${SLOT_MS})`;
const SLOT = rowOf([number, number, number]);

/** Counts the events of the unsealed sessions by slot; null if there are too many sessions. */
const countSlots = ({ db, app, until, version, live }: SessionFacts): Promise<SlotCounts | null> =>
  live.latest(`slots ${app}`, version, async () => {
    const rows = await db.rows({
      name: 'unsealed slots',
      sql: sql`SELECT ${SLOT_OF_START}, sum(s.events), count() FROM sessions AS s
WHERE ${ofApp(app)} AND ${inRanges(sql`s.started_at`, [{ ...closed({ from: null, to: null }), from: until }])} GROUP BY 1 LIMIT ${MOST_SLOTS + 1}`,
      row: SLOT,
    });
    return rows.length > MOST_SLOTS || rows.reduce((sum, [, , own]) => sum + own, 0) > MOST_OPEN
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
  const counts = facts.until < facts.keptFrom ? null : await countSlots(facts);
  if (counts === null) return null;
  const changed = counts.filter(([slot, events]) =>
    readers.some(({ known }) => known.get(slot)?.events !== events),
  );
  if (changed.length === 0) return readers.map(({ known }) => known);
  const read = await readSessions(facts, readers, changed);
  return readers.map(({ known }, i) => {
    const slots = new Map<number, Slot>();
    for (const [slot] of counts) {
      const own = read[i]?.get(slot) ?? known.get(slot);
      if (own !== undefined) slots.set(slot, own);
    }
    return slots;
  });
}

/** The start, the number of events, the visitor, and a part for each way to count. */
const SESSION = rowOf([number, number, text], SESSION_PART);
const FIRST_PART = 3;

/** Reads all sessions of these slots, which are in order. */
async function readSessions(
  facts: SessionFacts,
  readers: readonly Reader[],
  counts: SlotCounts,
): Promise<Slots[]> {
  const changed = counts.map(([slot]) => slot);
  const range = {
    from: epochMs(Math.max((changed[0] ?? 0) * SLOT_MS, facts.until)),
    to: epochMs(((changed.at(-1) ?? 0) + 1) * SLOT_MS - 1),
  };
  const singles = readers.map(({ single }) => single);
  const columns = ['events', ...mergedFor(singles)] as const;
  const only =
    changed.length <= MOST_NAMED ? sql`${SLOT_OF_START} IN (${join(changed.map(int))})` : sql`true`;
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
      const slot = read.get(floorTo(row[0], SLOT_MS) / SLOT_MS);
      if (slot === undefined) continue;
      slot.events += row[1];
      const part = row[FIRST_PART + i] as SessionPart;
      slot.sessions.push(visitors.of(singleSession(single, 1, row[0], row[2], part)));
    }
    for (const { sessions } of read.values()) sessions.sort((a, b) => a.startedAt - b.startedAt);
    return read;
  });
}
