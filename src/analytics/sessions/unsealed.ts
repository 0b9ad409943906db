import { number, rowOf, text } from '../../clickhouse/row.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { epochMs, type Range } from '../../domain/time.ts';
import { closed, type SessionFacts } from '../input/app-facts.ts';
import { int } from '../range/sql.ts';
import { finalSessions } from './merged.ts';
import { mergedFor, namesOf, SESSION_PART, type SessionPart, sessionSql, singleSession } from './singles.ts';
import {
  MOST_OPEN,
  type Reader,
  type SlotCounts,
  type Slots,
  slotMsOf,
  slotOf,
  slotOfStart,
} from './slot.ts';
import type { OpenSession } from './visitors.ts';

/** Up to this many changed slots, the statement names each. */
const MOST_NAMED = 2_000;
/** With up to this many events, the sessions of changed slots are read on one core, which takes less processor time. */
const FEW_EVENTS = 20_000;

/** The start, the number of events, the visitor, and a part for each way to count. */
const SESSION = rowOf([number, number, text], SESSION_PART);
const FIRST_PART = 3;

/** Reads the sessions of these slots, which are in order; null if the statement finds too many. */
export async function readSessions(
  facts: SessionFacts,
  readers: readonly Reader[],
  changed: SlotCounts | 'all',
): Promise<Slots['slots'][] | null> {
  const singles = readers.map(({ single }) => single);
  const columns = ['events', ...mergedFor(singles)] as const;
  const { range, only, parallel, isSought } = changed === 'all' ? allFrom(facts) : ofSlots(facts, changed);
  const rows = await facts.db.rows(
    {
      name: `unsealed sessions, ${namesOf(singles)}`,
      sql: sql`SELECT toUnixTimestamp64Milli(started_at), events, ${sessionSql(singles)}
FROM (${finalSessions(facts.app, range, columns, only)}) LIMIT ${MOST_OPEN + 1}`,
      row: SESSION,
    },
    { parallel },
  );
  if (rows.length > MOST_OPEN) return null;
  return readers.map(({ visitors, single }, i) => {
    const read = new Map<number, { events: number; sessions: OpenSession[] }>();
    // By position, and without copies: there are thousands of rows.
    for (const row of rows) {
      const number = slotOf(facts.db, row[0]);
      if (!isSought(number)) continue;
      const slot = read.get(number) ?? { events: 0, sessions: [] };
      if (slot.events === 0) read.set(number, slot);
      slot.events += row[1];
      const part = row[FIRST_PART + i] as SessionPart;
      slot.sessions.push(visitors.of(singleSession(single, 1, row[0], row[2], part)));
    }
    for (const { sessions } of read.values()) sessions.sort((a, b) => a.startedAt - b.startedAt);
    return read;
  });
}

/** The unsealed sessions to read. */
interface Sought {
  readonly range: Range;
  /** SQL condition on the start. */
  readonly only: Sql;
  readonly parallel: boolean;
  readonly isSought: (slot: number) => boolean;
}

const allFrom = ({ until }: SessionFacts): Sought => ({
  range: closed({ from: until, to: null }),
  only: sql`true`,
  parallel: true,
  isSought: () => true,
});

function ofSlots({ db, until }: SessionFacts, counts: SlotCounts): Sought {
  const slotMs = slotMsOf(db);
  const slots = counts.map(([slot]) => slot);
  const sought = new Set(slots);
  return {
    range: {
      from: epochMs(Math.max((slots[0] ?? 0) * slotMs, until)),
      to: epochMs(((slots.at(-1) ?? 0) + 1) * slotMs - 1),
    },
    only: slots.length <= MOST_NAMED ? sql`${slotOfStart(db)} IN (${join(slots.map(int))})` : sql`true`,
    parallel: counts.reduce((sum, [, events]) => sum + events, 0) > FEW_EVENTS,
    isSought: (slot) => sought.has(slot),
  };
}
