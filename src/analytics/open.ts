import { forOthersToo } from '../domain/caller.ts';
import type { SessionFacts } from './ask.ts';
import { lateVersions } from './late-sessions.ts';
import type { Single } from './singles.ts';
import { NO_SLOTS, readSlots, type Slots } from './slots.ts';
import { type OpenSession, Visitors } from './visitors.ts';

/*
 * Open sessions: those that the facts do not hold as they are now, because they are not sealed yet, or
 * because events of them came late. They are read once and kept. After new events, only the sessions around
 * them are read again.
 */

export interface Open {
  /** In order of their start. */
  readonly unsealed: readonly OpenSession[];
  readonly late: readonly OpenSession[];
}

export const NOTHING_OPEN: Open = { unsealed: [], late: [] };

/** What is kept of an app. */
interface Kept {
  readonly visitors: Visitors;
  /** The data that `open` was read from. */
  readonly version: number;
  /** A promise holds on to the request that made it, so it gives way to its value. */
  readonly open: Open | null | Promise<Open | null>;
  readonly slots: Slots | null | Promise<Slots | null>;
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
  const slots = forOthersToo(async () => readSlots(facts, single, visitors, await slotsOf(known)));
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
    // Counted as one entry, however many sessions there are: every question about the last hours needs them.
    if (live.get(key) === kept) live.set(key, { version, visitors, open: read, slots: await slots }, 0);
    return read;
  } catch (error) {
    if (live.get(key) === kept) live.delete(key);
    throw error;
  }
}

/** The slots that were read last; none if that failed. */
async function slotsOf(kept: Kept | undefined): Promise<Slots> {
  try {
    return (await kept?.slots) ?? NO_SLOTS;
  } catch {
    return NO_SLOTS;
  }
}
