import { areKnown } from '../facts/late.ts';
import { type LateHour, MOST_LATE_HOURS } from '../snapshots/late-hours.ts';
import type { Facts } from './ask.ts';

/**
 * Thrown if late events change more than a question can correct. Raw rows then answer from the first late
 * hour on.
 */
export class TooManyLate extends Error {}

/** Limit of sessions with late events. A statement reads one more at most. */
export const MOST_LATE_SESSIONS = 2_000;

/** What late events change, by the session to which they belong. */
export type Changes<Change> = ReadonlyMap<string, readonly Change[]>;

/** The name of a session in `Changes`. */
export const sessionName = (startedAt: number, id: string): string => `${startedAt} ${id}`;

/** Groups by session. */
export function bySession<Item>(
  items: readonly (readonly [session: string, item: Item])[],
): Map<string, Item[]> {
  const found = new Map<string, Item[]>();
  for (const [session, item] of items) {
    const own = found.get(session);
    if (own === undefined) found.set(session, [item]);
    else own.push(item);
  }
  return found;
}

/** What was read of the late events of an app so far. */
interface Known<Change> {
  /** The number of committed events of each late hour when it was read. */
  readonly hours: ReadonlyMap<number, number>;
  /** Null if the late events of an hour are unknown, or if they are too many. */
  readonly changes: Changes<Change> | null;
}

/**
 * Returns what the late events of all sessions change. `read` gets the hours in which more events came late, and
 * returns everything about the sessions of these events.
 */
export async function changesOf<Change>(
  { db, app, kind, cache, lateHours }: Facts,
  name: string,
  read: (hours: readonly LateHour[]) => Promise<Changes<Change>>,
  sizeOf: (change: Change) => number,
): Promise<readonly Change[]> {
  if (lateHours.length === 0) return [];
  if (lateHours.length > MOST_LATE_HOURS) throw new TooManyLate();
  const key = `late ${app} ${name}`;
  const known: Known<Change> = cache.get(key) ?? { hours: new Map(), changes: new Map() };
  const grown = lateHours.filter(({ hour, committed }) => known.hours.get(hour) !== committed);
  let { changes } = known;
  if (grown.length > 0 && changes !== null) {
    const [isKnown, more] = await Promise.all([areKnown(db, app, kind, grown), read(grown)]);
    const all = new Map([...changes, ...more]);
    changes = isKnown && all.size <= MOST_LATE_SESSIONS ? all : null;
    const hours = new Map([...known.hours, ...grown.map((late) => [late.hour, late.committed] as const)]);
    let size = hours.size;
    for (const own of changes?.values() ?? []) for (const change of own) size += 1 + sizeOf(change);
    cache.set(key, { hours, changes } satisfies Known<Change>, size);
  }
  if (changes === null) throw new TooManyLate();
  return [...changes.values()].flat();
}
