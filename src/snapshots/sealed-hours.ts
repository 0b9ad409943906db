import type { Database } from '../clickhouse/database.ts';
import { byName } from '../domain/by-name.ts';
import { type Commit, hoursBy } from '../domain/commits.ts';
import { FACT_KINDS, type FactKind } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { type LateHour, type LateHours, readHours } from './late-hours.ts';
import type { PublishedFacts } from './published.ts';

/*
 * A process that is alone on its store remembers the sealed hours of an app, and adds its commits to them. So it knows
 * which hours are late.
 */

/** The hours below the watermarks, whether late or not. */
export interface SealedHours {
  /** The state of the facts that they belong to. */
  readonly of: string;
  /** They count the commits up to here, and no others; null if it is not known which they count. */
  readonly position: number | null;
  /** Null if there are too many. */
  readonly hours: LateHours | null;
}

/**
 * Returns the hours as they are now: those of `last` with the commits since, or else read anew. Null if a write is under
 * way, or if other processes write.
 */
export async function sealedHours(
  db: Database,
  app: AppId,
  published: PublishedFacts,
  of: string,
  last: SealedHours | null,
): Promise<SealedHours | null> {
  const position = db.own.stamp(app);
  if (position === null) return null;
  if (last?.of === of) {
    if (last.hours === null) return last;
    const { hours } = last;
    const commits = db.own.commitsSince(app, last.position);
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
  return { of, position: db.own.stamp(app) === position ? position : null, hours: isWhole ? hours : null };
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
    .flatMap((commit) => hoursBy(kind, commit))
    .filter(({ hour }) => hour < published[kind].until);
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
