import type { Database } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { epochMs, HOUR_MS, type Span } from '../domain/time.ts';
import type { FactKind } from '../facts/kinds.ts';
import { lateSessions } from '../facts/late.ts';
import { type LateHour, MOST_LATE_HOURS } from '../facts/late-hours.ts';
import type { Memory } from '../facts/memory.ts';
import { without } from '../facts/published.ts';
import type { Snapshot } from '../facts/read-snapshots.ts';
import type { AppFacts, EventFacts, Facts, PageFacts, SessionFacts } from './ask.ts';
import type { LateKey } from './late.ts';
import { readLateKeys } from './late-pages.ts';
import { ofApp } from './sql.ts';

export interface FactsDeps {
  readonly db: Database;
  readonly memory: Memory;
  readonly app: AppId;
  readonly snapshot: Snapshot;
  /** Whether answers are corrected for late events. Otherwise raw rows answer from the first late hour on. */
  readonly patched: boolean;
}

/**
 * Gives access to an app's facts at the snapshot. Parts that only some questions need are read when they ask
 * for them.
 */
export function createFacts(deps: FactsDeps): AppFacts {
  const events = eventFacts(deps);
  let sessions: Promise<SessionFacts> | undefined;
  let pages: Promise<PageFacts> | undefined;
  return {
    db: deps.db,
    app: deps.app,
    starts: deps.snapshot.starts,
    extent: deps.snapshot.extent,
    events,
    sessions: () => (sessions ??= sessionFacts(deps)),
    pages: () => (pages ??= pageFacts(deps, events)),
  };
}

async function factsOf({ db, memory, app, snapshot, patched }: FactsDeps, kind: FactKind): Promise<Facts> {
  const { until, step, horizon, dead } = snapshot.published[kind];
  const lateHours = snapshot.late[kind];
  const cache = memory.of(`${kind} ${step} ${snapshot.erasures}`);
  const of = { db, app, where: sql`${ofApp(app)}${without(sql`run`, dead)}` };
  const late = patched ? await lateSessions(db, cache, app, kind, lateHours) : null;
  const [first] = lateHours;
  if (late === null && first !== undefined) {
    // Nothing comes late for hours before the horizon. If it did, no raw rows could tell the right answer.
    if (first.hour < horizon)
      throw new Error(`events of ${app} came in for hours whose raw rows have expired`);
    const nothing = { lateSessions: [], lateHours: [], cache: memory.of(null) };
    return { ...of, ...nothing, until: epochMs(first.hour) };
  }
  return { ...of, until, cache, lateSessions: late ?? [], lateHours };
}

async function sessionFacts(deps: FactsDeps): Promise<SessionFacts> {
  const facts = await factsOf(deps, 'session');
  const { keptFrom, sessionEvents, published, erasures } = deps.snapshot;
  const live = deps.memory.of(`open ${published.session.step} ${facts.until} ${erasures}`);
  return { ...facts, keptFrom, version: sessionEvents, live };
}

async function pageFacts(deps: FactsDeps, events: EventFacts): Promise<PageFacts> {
  const facts = await factsOf(deps, 'page');
  const { published, sessionEvents, erasures } = deps.snapshot;
  const live = deps.memory.of(`tail ${published.page.step} ${facts.until} ${erasures}`);
  let read: Promise<readonly LateKey[]> | undefined;
  return { ...facts, events, version: sessionEvents, live, late: () => (read ??= readLateKeys(facts)) };
}

function eventFacts({ db, memory, app, snapshot }: FactsDeps): EventFacts {
  const { until, step, horizon } = snapshot.published.page;
  const hours = snapshot.late.page;
  return {
    db,
    app,
    until,
    horizon,
    version: snapshot.sessionEvents,
    live: memory.of(`unsealed ${step} ${snapshot.erasures}`),
    of: (spans) => {
      const isKept = hours.length <= MOST_LATE_HOURS && spans.every(({ end }) => end <= until);
      return memory.of(isKept ? `event ${step} ${snapshot.erasures} ${lateIn(hours, spans)}` : null);
    },
  };
}

/** Identifies the late events in the hours of the spans: the text changes with each new one. */
const lateIn = (hours: readonly LateHour[], spans: readonly Span[]): string =>
  hours
    .filter(({ hour }) => spans.some(({ start, end }) => hour < end && hour + HOUR_MS > start))
    .map(({ hour, committed }) => `${hour}:${committed}`)
    .join(' ');
