import { forOthersToo } from '../../domain/caller.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { lateForms } from './late.ts';
import { lookAhead } from './look-ahead.ts';
import { SINGLES, type Single } from './singles.ts';
import { NO_SLOTS, type Slots, sessionsIn } from './slot.ts';
import { readSlots } from './slots.ts';
import { type Open, Visitors } from './visitors.ts';

/*
 * Open sessions: those that the facts do not hold as they are now, because they are not sealed yet, or
 * because events of them came late. They are read once and kept. After new events, only the sessions around
 * them are read again.
 */

export const NOTHING_OPEN: Open = { unsealed: [], late: [] };

interface Read extends Open {
  readonly slots: Slots;
}

/** The open sessions, as they were read last for a way to count them. */
interface Kept {
  readonly visitors: Visitors;
  readonly version: number;
  /** A promise holds on to the request that made it, so it gives way to its value. */
  readonly read: Read | null | Promise<Read | null>;
}

/**
 * Returns the open sessions; null if too many are unsealed, or if `sessions` does not hold all of them. Throws
 * `TooManyLate`. Questions about the same version share one reading.
 */
export async function readOpen(facts: SessionFacts, single: Single): Promise<Open | null> {
  const { live, version, app } = facts;
  const keyOf = ({ name }: Single): string => `open ${app} ${name}`;
  const needed = await live.noteNeeded(`ways to count ${app}`, version, facts, single);
  const known = live.get<Kept>(keyOf(single));
  if (known?.version === version) return known.read;
  const together = SINGLES.flatMap((each) => {
    const before = live.get<Kept>(keyOf(each));
    const isRead = before?.version === version || !needed.has(each);
    return isRead ? [] : { single: each, before, visitors: before?.visitors ?? new Visitors() };
  });
  const reading = forOthersToo(() => readTogether(facts, together));
  const kept = together.map(({ single: each, visitors }, i) => {
    const read = reading.then((all) => all?.[i] ?? null);
    const own: Kept = { version, visitors, read };
    const key = keyOf(each);
    live.set(key, own, 0);
    read.then(
      (value) => {
        if (live.get(key) === own) live.set(key, { ...own, read: value }, 0);
      },
      () => {
        if (live.get(key) === own) live.delete(key);
      },
    );
    return own;
  });
  return (kept[together.findIndex((each) => each.single === single)] as Kept).read;
}

interface Reader {
  readonly single: Single;
  readonly visitors: Visitors;
  readonly before: Kept | undefined;
}

/** Reads the open sessions for each of the readers. */
async function readTogether(facts: SessionFacts, readers: readonly Reader[]): Promise<Read[] | null> {
  const all = await Promise.all(
    readers.map(async (each) => ({ ...each, known: await slotsOf(each.before) })),
  );
  const singles = readers.map(({ single }) => single);
  const [slots, late, lookedUp] = await Promise.all([
    readSlots(facts, all),
    lateForms(facts, singles),
    Promise.all(all.map((each) => lookAhead(facts, each))),
  ]);
  if (slots === null) return null;
  return readers.map(({ visitors }, i) => {
    const own = slots[i] ?? NO_SLOTS;
    const read: Read = {
      slots: own,
      unsealed: sessionsIn(own),
      late: (late[i] ?? []).map((session) => visitors.of(session)),
    };
    const found = lookedUp[i] ?? null;
    if (found !== null) visitors.learn(found);
    return read;
  });
}

/** The slots that were read last: none if that failed, null if nothing was tried. */
async function slotsOf(kept: Kept | undefined): Promise<Slots | null> {
  if (kept === undefined) return null;
  try {
    return (await kept.read)?.slots ?? NO_SLOTS;
  } catch {
    return NO_SLOTS;
  }
}
