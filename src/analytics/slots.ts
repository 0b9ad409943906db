import { z } from 'zod';
import { join, sql } from '../clickhouse/sql.ts';
import { forOthersToo } from '../domain/caller.ts';
import { epochMs, floorTo } from '../domain/time.ts';
import { closed, type SessionFacts } from './ask.ts';
import { mergedSessions } from './merged-sessions.ts';
import { mergedFor, SESSION_PARTS, type Single, sessionSql } from './singles.ts';
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

interface Slot {
  readonly events: number;
  readonly sessions: readonly OpenSession[];
}
export type Slots = ReadonlyMap<number, Slot>;
/** The number of events of each slot, in order of time. */
type SlotCounts = readonly (readonly [slot: number, events: number])[];
interface KeptSlots {
  readonly version: number;
  /** A promise holds on to the request that made it, so it gives way to its value. */
  readonly counts: SlotCounts | null | Promise<SlotCounts | null>;
}
export const NO_SLOTS: Slots = new Map();

const SLOT_OF_START = sql`intDiv(toUnixTimestamp64Milli(s.started_at), ${SLOT_MS})`;
const SLOT = z.tuple([z.number(), z.number(), z.number()]);

/** Counts the events of the unsealed sessions by slot; null if there are too many sessions. */
async function countSlots({ db, app, until, version, live }: SessionFacts): Promise<SlotCounts | null> {
  const key = `slots ${app}`;
  const known = live.get<KeptSlots>(key);
  if (known?.version === version) return known.counts;
  const counts = forOthersToo(async () => {
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
  live.set(key, { version, counts }, 0);
  counts.then(
    (read) => {
      if (live.get<KeptSlots>(key)?.counts === counts) live.set(key, { version, counts: read }, 0);
    },
    () => live.delete(key),
  );
  return counts;
}

/** Reads the unsealed sessions by slot. Slots of `known` that have not changed are not read again. */
export async function readSlots(
  facts: SessionFacts,
  single: Single,
  visitors: Visitors,
  known: Slots,
): Promise<Slots | null> {
  const counts = facts.until < facts.keptFrom ? null : await countSlots(facts);
  if (counts === null) return null;
  const changed = counts.filter(([slot, events]) => known.get(slot)?.events !== events);
  if (changed.length === 0) return known;
  const read = await readSessions(
    facts,
    single,
    visitors,
    changed.map(([slot]) => slot),
    changed.length === counts.length,
  );
  const slots = new Map<number, Slot>();
  for (const [slot] of counts) {
    const own = read.get(slot) ?? known.get(slot);
    if (own !== undefined) slots.set(slot, own);
  }
  return slots;
}

const SESSION = z.tuple([z.number(), z.number(), ...SESSION_PARTS]).rest(z.number());

/** Reads all sessions of these slots, which are in order. `isAll`: there are no other slots. */
async function readSessions(
  facts: SessionFacts,
  single: Single,
  visitors: Visitors,
  changed: readonly number[],
  isAll: boolean,
): Promise<Slots> {
  const range = {
    from: epochMs(Math.max((changed[0] ?? 0) * SLOT_MS, facts.until)),
    to: epochMs(((changed.at(-1) ?? 0) + 1) * SLOT_MS - 1),
  };
  const isNamed = !isAll && changed.length <= MOST_NAMED;
  const only = isNamed ? sql`${SLOT_OF_START} IN (${join(changed.map(int))})` : undefined;
  const rows = await facts.db.rows(
    {
      name: `unsealed sessions, ${single.name}`,
      sql: sql`SELECT toUnixTimestamp64Milli(started_at), events, ${sessionSql(single)}
FROM (${mergedSessions(facts, range, ['events', ...mergedFor(single)], only)})`,
      row: SESSION,
    },
    { parallel: true },
  );
  const read = new Map(changed.map((slot) => [slot, { events: 0, sessions: [] as OpenSession[] }]));
  for (const [startedAt, events, visitor, keys, ...values] of rows) {
    const slot = read.get(floorTo(startedAt, SLOT_MS) / SLOT_MS);
    if (slot === undefined) continue;
    slot.events += events;
    slot.sessions.push(visitors.of({ sign: 1, startedAt, visitor, keys, values }));
  }
  for (const { sessions } of read.values()) sessions.sort((a, b) => a.startedAt - b.startedAt);
  return read;
}
