import { z } from 'zod';
import { join, sql } from '../clickhouse/sql.ts';
import { forOthersToo } from '../domain/caller.ts';
import { epochMs, floorTo } from '../domain/time.ts';
import { closed, type SessionFacts } from './ask.ts';
import { lateVersions } from './late-sessions.ts';
import { mergedSessions } from './merged-sessions.ts';
import { mergedFor, SESSION_PARTS, type Single, type SingleSession, sessionSql } from './singles.ts';
import { inRanges, int, ofApp } from './sql.ts';

/*
 * Open sessions: those that the facts do not hold as they are now, because they are not sealed yet, or
 * because events of them came late. They are read once and kept. After new events, only the sessions around
 * them are read again.
 */

/** A visitor under a key; one object for each. */
export interface Visitor {
  /** '' if visitors are not counted. */
  readonly name: string;
  readonly key: string;
  /** The start of the last sealed session: -1 if there is none, null if it was not looked up. */
  last: number | null;
}

export interface OpenSession extends Pick<SingleSession, 'sign' | 'startedAt' | 'values'> {
  /** The visitor, under each key of the session. */
  readonly visitors: readonly Visitor[];
}

export interface Open {
  /** In order of their start. */
  readonly unsealed: readonly OpenSession[];
  readonly late: readonly OpenSession[];
}

export const NOTHING_OPEN: Open = { unsealed: [], late: [] };

/** If more sessions are unsealed, they are counted in the store. */
const MOST_OPEN = 50_000;
/**
 * Unsealed sessions are kept by the slot in which they start. Events are only ever added, so a slot with the
 * same number of events holds the same sessions.
 */
const SLOT_MS = 10_000;
const MOST_SLOTS = 20_000;
/** Up to this many changed slots, the statement names each. */
const MOST_NAMED = 2_000;

interface Slot {
  readonly events: number;
  readonly sessions: readonly OpenSession[];
}
type Slots = ReadonlyMap<number, Slot>;
/** The number of events of each slot, in order of time. */
type SlotCounts = readonly (readonly [slot: number, events: number])[];
interface KeptSlots {
  readonly version: number;
  readonly counts: Promise<SlotCounts | null>;
}
const NO_SLOTS: Slots = new Map();

/** The visitors by name and key. */
class Visitors {
  readonly #known = new Map<string, Visitor>();

  /** Replaces the texts of a session by visitors. */
  of({ sign, startedAt, values, visitor: name, keys }: SingleSession): OpenSession {
    return { sign, startedAt, values, visitors: keys.map((key) => this.#of(name, key)) };
  }

  #of(name: string, key: string): Visitor {
    const text = name + key;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const visitor = { name, key, last: null };
    this.#known.set(text, visitor);
    return visitor;
  }
}

/** What is kept of an app. */
interface Kept {
  readonly visitors: Visitors;
  /** The data that `open` was read from. */
  readonly version: number;
  readonly open: Promise<Open | null>;
  readonly slots: Promise<Slots | null>;
}

/**
 * Returns the open sessions; null if too many are unsealed, or if `sessions` does not hold all of them.
 * Questions about the same version share one reading.
 */
export async function readOpen(facts: SessionFacts, single: Single): Promise<Open | null> {
  const { live, app, version } = facts;
  const key = `open ${app} ${single.name}`;
  const known = live.get<Kept>(key);
  if (known?.version === version) return known.open;
  const visitors = known?.visitors ?? new Visitors();
  const slots = forOthersToo(async () =>
    readSlots(facts, single, visitors, (await known?.slots.catch(() => null)) ?? NO_SLOTS),
  );
  const open = forOthersToo(async () => {
    const [read, late] = await Promise.all([slots, lateVersions(facts, single)]);
    if (read === null) return null;
    const unsealed = [...read.values()].flatMap(({ sessions }) => sessions);
    return { unsealed, late: late.map((session) => visitors.of(session)) };
  });
  const kept: Kept = { version, visitors, open, slots };
  live.set(key, kept, 0);
  try {
    const read = await open;
    const count = (read?.unsealed.length ?? 0) + (read?.late.length ?? 0);
    if (live.get(key) === kept) live.set(key, kept, count * (5 + single.columns.length));
    return read;
  } catch (error) {
    if (live.get(key) === kept) live.delete(key);
    throw error;
  }
}

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
  counts.catch(() => live.delete(key));
  return counts;
}

/** Reads the unsealed sessions by slot. Slots of `known` that have not changed are not read again. */
async function readSlots(
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
