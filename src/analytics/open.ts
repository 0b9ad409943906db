import { forOthersToo } from '../domain/caller.ts';
import type { SessionFacts } from './ask.ts';
import { lateVersions } from './late-sessions.ts';
import { SINGLES, type Single } from './singles.ts';
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

/**
 * Returns the open sessions; null if too many are unsealed, or if `sessions` does not hold all of them.
 * Questions about the same version share one reading.
 */
export const readOpen = (facts: SessionFacts, single: Single): Promise<Open | null> =>
  facts.live.latest(`open ${facts.app} ${single.name}`, facts.version, async () => {
    const [{ slots, visitors }, late] = await Promise.all([
      unsealed(facts, single),
      lateVersions(facts, single),
    ]);
    const read = await slots;
    if (read === null) return null;
    return {
      unsealed: [...read.values()].flatMap(({ sessions }) => sessions),
      late: late.map((session) => visitors.of(session)),
    };
  });

/** The unsealed sessions, as they were read last for a way to count them. */
interface Kept {
  readonly visitors: Visitors;
  readonly version: number;
  /** A promise holds on to the request that made it, so it gives way to its value. */
  readonly slots: Slots | null | Promise<Slots | null>;
  /** The last version for which a question counted them in this way. */
  askedAt: number;
}

/**
 * Several questions about an app are usually polled, so one statement reads the sessions for all that was asked about
 * the version before.
 */
async function unsealed(facts: SessionFacts, single: Single): Promise<Kept> {
  const { live, version, app } = facts;
  const keyOf = ({ name }: Single): string => `unsealed ${app} ${name}`;
  const known = live.get<Kept>(keyOf(single));
  if (known?.version === version) {
    known.askedAt = version;
    return known;
  }
  const together = SINGLES.flatMap((each) => {
    const before = live.get<Kept>(keyOf(each));
    const isAsked = each === single || (known !== undefined && before?.askedAt === known.version);
    return isAsked ? { single: each, before, visitors: before?.visitors ?? new Visitors() } : [];
  });
  const reading = forOthersToo(async () => {
    const readers = together.map(async (each) => ({ ...each, known: await slotsOf(each.before) }));
    return readSlots(facts, await Promise.all(readers));
  });
  const kept = together.map(({ single: each, visitors, before }, i) => {
    const slots = reading.then((all) => all?.[i] ?? null);
    const own: Kept = {
      version,
      visitors,
      slots,
      askedAt: each === single ? version : (before?.askedAt ?? 0),
    };
    live.set(keyOf(each), own, 0);
    slots.then(
      (read) => {
        if (live.get(keyOf(each)) === own) live.set(keyOf(each), { ...own, slots: read }, 0);
      },
      () => {
        if (live.get(keyOf(each)) === own) live.delete(keyOf(each));
      },
    );
    return own;
  });
  return kept[together.findIndex((each) => each.single === single)] as Kept;
}

/** The slots that were read last; none if that failed. */
async function slotsOf(kept: Kept | undefined): Promise<Slots> {
  try {
    return (await kept?.slots) ?? NO_SLOTS;
  } catch {
    return NO_SLOTS;
  }
}
