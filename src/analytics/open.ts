import { z } from 'zod';
import { forOthersToo } from '../domain/caller.ts';
import { epochMs, floorTo } from '../domain/time.ts';
import { closed, type SessionFacts } from './ask.ts';
import { lateVersions } from './late-sessions.ts';
import { byVisitor, type Visitor } from './links.ts';
import { mergedSessions } from './merged-sessions.ts';
import { mergedFor, type OpenSession, SESSION_PARTS, type Single, sessionSql } from './singles.ts';
import { inRanges, int, ofApp } from './sql.ts';

/*
 * Open sessions: those that the facts do not hold as they are now, because they are not sealed yet, or
 * because events of them came late. They are read once and kept. After new events, only the sessions around
 * them are read again.
 */

export interface Open {
  readonly sessions: readonly OpenSession[];
  /** The same sessions by visitor; none if visitors are not counted. */
  readonly visitors: readonly Visitor[];
}

export const NOTHING_OPEN: Open = { sessions: [], visitors: [] };

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
type SlotCounts = readonly (readonly [slot: number, events: number])[];
interface KeptSlots {
  readonly version: string;
  readonly counts: Promise<SlotCounts | null>;
}
const NO_SLOTS: Slots = new Map();

/** What is kept of an app. */
interface Kept {
  /** The data that `open` was read from. */
  readonly version: string;
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
  const slots = forOthersToo(async () =>
    readSlots(facts, single, (await known?.slots.catch(() => null)) ?? NO_SLOTS),
  );
  const open = forOthersToo(async () => {
    const read = await slots;
    return read === null ? null : openOf(facts, single, read);
  });
  const kept: Kept = { version, open, slots };
  live.set(key, kept, 0);
  try {
    const read = await open;
    if (live.get(key) === kept)
      live.set(key, kept, (read?.sessions.length ?? 0) * (5 + single.columns.length));
    return read;
  } catch (error) {
    if (live.get(key) === kept) live.delete(key);
    throw error;
  }
}

async function openOf(facts: SessionFacts, single: Single, slots: Slots): Promise<Open> {
  const late = await lateVersions(facts, single);
  const sessions = [...slots.values()].flatMap((slot) => slot.sessions);
  sessions.push(...late);
  return { sessions, visitors: single.visits === null ? [] : byVisitor(sessions) };
}

const SLOT_OF_START = `intDiv(toUnixTimestamp64Milli(s.started_at), ${SLOT_MS})`;
const SLOT = z.tuple([z.number(), z.number(), z.number()]);

/** Counts the events of the unsealed sessions by slot; null if there are too many sessions. */
async function countSlots({ db, app, until, version, live }: SessionFacts): Promise<SlotCounts | null> {
  const key = `slots ${app}`;
  const known = live.get<KeptSlots>(key);
  if (known?.version === version) return known.counts;
  const counts = forOthersToo(async () => {
    const rows = await db.rows({
      name: 'unsealed slots',
      sql: `SELECT ${SLOT_OF_START}, sum(s.events), count() FROM sessions AS s
WHERE ${ofApp(app)} AND ${inRanges('s.started_at', [{ ...closed({ from: null, to: null }), from: until }])} GROUP BY 1 LIMIT ${MOST_SLOTS + 1}`,
      row: SLOT,
    });
    return rows.length > MOST_SLOTS || rows.reduce((sum, [, , own]) => sum + own, 0) > MOST_OPEN
      ? null
      : rows.map(([slot, events]) => [slot, events] as const);
  });
  live.set(key, { version, counts }, 0);
  counts.catch(() => live.delete(key));
  return counts;
}

/** Reads the unsealed sessions by slot. Slots of `known` that have not changed are not read again. */
async function readSlots(facts: SessionFacts, single: Single, known: Slots): Promise<Slots | null> {
  const counts = facts.until < facts.keptFrom ? null : await countSlots(facts);
  if (counts === null) return null;
  const slots = new Map<number, Slot>();
  const changed: number[] = [];
  for (const [slot, events] of counts) {
    const own = known.get(slot);
    if (own?.events === events) slots.set(slot, own);
    else changed.push(slot);
  }
  if (changed.length > 0) await readSessions(facts, single, changed.sort(byNumber), slots);
  return slots;
}

const byNumber = (a: number, b: number): number => a - b;

const SESSION = z.tuple([z.number(), z.number(), ...SESSION_PARTS]).rest(z.number());

/** Reads all sessions of these slots, which are in order, into `slots`. */
async function readSessions(
  facts: SessionFacts,
  single: Single,
  changed: readonly number[],
  slots: Map<number, Slot>,
): Promise<void> {
  const range = {
    from: epochMs(Math.max((changed[0] ?? 0) * SLOT_MS, facts.until)),
    to: epochMs(((changed.at(-1) ?? 0) + 1) * SLOT_MS - 1),
  };
  const only =
    changed.length > MOST_NAMED ? undefined : `${SLOT_OF_START} IN (${changed.map(int).join(', ')})`;
  const rows = await facts.db.rows(
    {
      name: `unsealed sessions, ${single.name}`,
      sql: `SELECT toUnixTimestamp64Milli(started_at), events, ${sessionSql(single)}
FROM (${mergedSessions(facts, range, ['events', ...mergedFor(single)], only)})`,
      row: SESSION,
    },
    { parallel: true },
  );
  const texts = new Map<string, string>();
  const read = new Map(changed.map((slot) => [slot, { events: 0, sessions: [] as OpenSession[] }]));
  for (const [startedAt, events, visitor, keys, ...values] of rows) {
    const slot = read.get(floorTo(startedAt, SLOT_MS) / SLOT_MS);
    if (slot === undefined) continue;
    slot.events += events;
    slot.sessions.push({ sign: 1, startedAt, visitor, keys: keys.map((key) => oneOf(texts, key)), values });
  }
  for (const [slot, own] of read) slots.set(slot, own);
}

/** Equal texts share one string. */
function oneOf(texts: Map<string, string>, text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  texts.set(text, text);
  return text;
}
