import type { Database } from '../../clickhouse/database.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import type { Single } from './singles.ts';
import type { OpenSession, Visitors } from './visitors.ts';

/** If more sessions are unsealed, they are counted in the store. */
export const MOST_OPEN = 50_000;
/**
 * Unsealed sessions are kept by the slot in which they start. Between two erasures events are only ever added,
 * so a slot with the same number of events holds the same sessions. The smaller the slots, the fewer sessions are read
 * again. With other processes, all slots are counted after new events, so there must not be too many.
 */
export const slotMsOf = ({ exclusive }: Database): number => (exclusive ? 1_000 : 10_000);
export const slotOf = (db: Database, start: number): number => Math.floor(start / slotMsOf(db));
export const slotOfStart = (db: Database): Sql =>
  sql`intDiv(toUnixTimestamp64Milli(s.started_at), ${slotMsOf(db)})`;

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
export type SlotCounts = readonly (readonly [slot: number, events: number])[];
export const NO_SLOTS: Slots = { slots: new Map(), position: null };

/** A way to count sessions, the visitors that it found, and the slots that it read last. */
export interface Reader {
  readonly single: Single;
  readonly visitors: Visitors;
  /** Null if it has not tried to read any. */
  readonly known: Slots | null;
}

/** Whether a session with this start was read, and its visitors were looked up. */
export const isKnown = (db: Database, known: Slots | null, startedAt: number): boolean =>
  known?.slots
    .get(slotOf(db, startedAt))
    ?.sessions.some(
      (session) => session.startedAt === startedAt && session.visitors.every(({ last }) => last !== null),
    ) === true;

/** All sessions, in order of their start. A loop, because there are thousands. */
export function sessionsIn({ slots }: Slots): OpenSession[] {
  const all: OpenSession[] = [];
  for (const { sessions } of slots.values()) for (const session of sessions) all.push(session);
  return all;
}
