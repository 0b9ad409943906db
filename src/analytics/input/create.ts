import type { Database } from '../../clickhouse/database.ts';
import { ofApp } from '../../clickhouse/literals.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { FactKind } from '../../domain/fact-kinds.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Segment } from '../../domain/segment.ts';
import { epochMs, HOUR_MS, type Span } from '../../domain/time.ts';
import { type LateHour, lateVersion, MOST_LATE_HOURS } from '../../snapshots/late-hour.ts';
import { without } from '../../snapshots/published.ts';
import type { Snapshot } from '../../snapshots/read.ts';
import type { Memory } from '../memory/memory.ts';
import type { AppFacts, EventFacts, Facts } from './app-facts.ts';

interface FactsDeps {
  readonly db: Database;
  readonly memory: Memory;
  readonly app: AppId;
  readonly snapshot: Snapshot;
  /** Whether answers are corrected for late events. Otherwise raw rows answer from the first late hour on. */
  readonly patched: boolean;
  readonly segment: Segment | null;
  /** See `SessionFacts`. */
  readonly areMany: boolean;
}

/** Gives access to an app's facts at the snapshot. */
export function createFacts(deps: FactsDeps): AppFacts {
  const { db, app, memory, snapshot, segment, areMany } = deps;
  const { keptFrom, sessionEvents: version, published, erasures, starts, extent } = snapshot;
  const events = eventFacts(deps);
  const [sessions, pages] = [factsOf(deps, 'session'), factsOf(deps, 'page')];
  const live = ({ kind, until }: Facts) =>
    memory.of(`live ${kind} ${published[kind].step} ${until} ${erasures} ${keptFrom}`);
  return {
    db,
    app,
    segment,
    starts,
    extent,
    events,
    sessions: {
      ...sessions,
      horizon: published.session.horizon,
      keptFrom,
      version,
      areMany,
      live: live(sessions),
    },
    pages: {
      ...pages,
      events,
      heldUntil: snapshot.heldUntil,
      lateStarts: snapshot.late.session,
      version,
      live: live(pages),
    },
  };
}

function factsOf({ db, memory, app, snapshot, patched }: FactsDeps, kind: FactKind): Facts {
  const { until, step, horizon, dead } = snapshot.published[kind];
  const lateHours = snapshot.late[kind];
  const of = {
    db,
    app,
    kind,
    where: sql`${ofApp(app)}${without(sql`run`, dead)}`,
  };
  const [first] = lateHours;
  if (patched || first === undefined) {
    return { ...of, until, cache: memory.of(`${kind} ${step} ${snapshot.erasures}`), lateHours };
  }
  // Nothing comes late for hours before the horizon. If it did, no raw rows could tell the right answer.
  if (first.hour < horizon) throw new Error(`events of ${app} came in for hours whose raw rows have expired`);
  return { ...of, until: epochMs(first.hour), cache: memory.of(null), lateHours: [] };
}

function eventFacts({ db, memory, app, snapshot }: FactsDeps): EventFacts {
  const { until, step, horizon } = snapshot.published.page;
  const hours = snapshot.late.page;
  return {
    db,
    app,
    until,
    horizon,
    extent: snapshot.extent,
    endsExactly: snapshot.endsExactly,
    version: snapshot.sessionEvents,
    live: memory.of(`unsealed ${step} ${snapshot.erasures}`),
    of: (spans) => {
      const isKept = hours.length <= MOST_LATE_HOURS && spans.every(({ end }) => end <= until);
      return memory.of(
        isKept ? `event ${step} ${snapshot.erasures} ${lateVersion(lateIn(hours, spans))}` : null,
      );
    },
  };
}

/** The late hours that the spans touch. */
const lateIn = (hours: readonly LateHour[], spans: readonly Span[]): LateHour[] =>
  hours.filter(({ hour }) => spans.some(({ start, end }) => hour < end && hour + HOUR_MS > start));
