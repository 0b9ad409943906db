import type { Database } from '../clickhouse/database.ts';
import { byName } from '../domain/by-name.ts';
import type { Commit } from '../domain/commits.ts';
import { FACT_KINDS, type FactKind, LEDGER_KIND } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { type LateHour, type LateHours, MOST_LATE_HOURS, readHours, readLateHours } from './late-hours.ts';
import type { Published, PublishedFacts } from './published.ts';

/*
 * A process that is alone on its store remembers the sealed hours of an app, and adds its commits to them. So it knows
 * which hours are late.
 */

/** The hours below the watermarks, whether late or not. */
interface SealedHours {
  /** The state of the facts that they belong to. */
  readonly of: string;
  /** They count the commits up to here, and no others; null if it is not known which they count. */
  readonly position: number | null;
  /** Null if there are too many. */
  readonly hours: LateHours | null;
}

/**
 * Returns the hours as they are now: those of `last` with what was committed since, or else read anew. Null if a write is
 * under way, or if other processes write.
 */
async function sealedHours(
  db: Database,
  app: AppId,
  published: PublishedFacts,
  of: string,
  last: SealedHours | null,
): Promise<SealedHours | null> {
  const position = db.stamp(app);
  if (position === null) return null;
  if (last?.of === of) {
    if (last.hours === null) return last;
    const { hours } = last;
    const commits = db.commitsSince(app, last.position);
    if (commits !== null) {
      return {
        of,
        position,
        hours: byName(FACT_KINDS, (kind) => added(kind, hours[kind], commits, published)),
      };
    }
  }
  const hours = await readHours(db, app, published, MOST_HOURS);
  const isWhole = FACT_KINDS.every((kind) => hours[kind].length <= MOST_HOURS);
  return { of, position: db.stamp(app) === position ? position : null, hours: isWhole ? hours : null };
}

/** Of each kind: 83 days. */
const MOST_HOURS = 2_000;

function added(
  kind: FactKind,
  hours: readonly LateHour[],
  commits: readonly Commit[],
  published: PublishedFacts,
): readonly LateHour[] {
  const counts = commits
    .flatMap((commit) => commit.hours)
    .filter((count) => count.kind === LEDGER_KIND[kind] && count.hour < published[kind].until);
  if (counts.length === 0) return hours;
  const all = new Map(hours.map((each) => [each.hour, each]));
  for (const { hour, events, lastEvent } of counts) {
    const own = all.get(hour) ?? { hour, committed: 0, held: 0, insertedUntil: 0, lastEvent };
    all.set(hour, {
      ...own,
      committed: own.committed + events,
      lastEvent: Math.max(own.lastEvent, lastEvent),
    });
  }
  return [...all.values()].sort((a, b) => a.hour - b.hour);
}

/** Returns the late ones, at most one more than MOST_LATE_HOURS of each kind. */
const lateAmong = (hours: LateHours): LateHours =>
  byName(FACT_KINDS, (kind) =>
    hours[kind].filter(({ committed, held }) => committed !== held).slice(0, MOST_LATE_HOURS + 1),
  );

/** Changes with the facts. */
export const stateOf = ({ step, horizon, dead }: Published): string => `${step} ${horizon} ${dead.length}`;

/** The late hours, and the sealed hours from which they follow; null if these are not known. */
export interface LateRead {
  readonly late: LateHours;
  readonly hours: SealedHours | null;
}

/** What a snapshot's other numbers say of late events. */
interface Lateness {
  readonly published: PublishedFacts;
  readonly erasures: string;
  readonly isErasing: boolean;
  readonly isLate: (kind: FactKind) => boolean;
  /** Whether more events are late than the last time. */
  readonly grows: boolean;
  /** Whether the hours hold all late events that the ledger counts. */
  readonly areAll: (hours: LateHours) => boolean;
  /** The late hours, if they were read beside. */
  readonly early: LateHours | null;
}

/** Reads the late hours, if they may have changed and are not known. */
export async function readLate(
  db: Database,
  app: AppId,
  last: LateRead,
  { published, erasures, isErasing, isLate, grows, areAll, early }: Lateness,
): Promise<LateRead> {
  if (isErasing) return { late: await readLateHours(db, app, published, true), hours: null };
  const { hours: before } = last;
  if (!grows) {
    return { late: byName(FACT_KINDS, (kind) => (isLate(kind) ? last.late[kind] : [])), hours: before };
  }
  if (early !== null && areAll(early)) return { late: early, hours: before };
  const of = [...FACT_KINDS.map((kind) => stateOf(published[kind])), erasures].join(' ');
  const hours = await sealedHours(db, app, published, of, before);
  const late = hours?.hours && lateAmong(hours.hours);
  return { late: late && areAll(late) ? late : await readLateHours(db, app, published), hours };
}
