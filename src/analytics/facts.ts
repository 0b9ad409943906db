import type { Database } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import { epochMs, HOUR_MS, type Span } from '../domain/time.ts';
import { type LateSession, lateSessions } from '../facts/late.ts';
import type { SealedCache } from '../facts/sealed-cache.ts';
import {
  type FactKind,
  type LateHour,
  MOST_LATE_HOURS,
  type Snapshot,
  without,
} from '../facts/watermarks.ts';
import type { AppFacts, EventFacts, Facts, Memory, PageFacts, SessionFacts } from './ask.ts';
import type { LateKey, LateSessions } from './late.ts';
import { readLateKeys } from './late-pages.ts';
import { readLateSessions } from './late-sessions.ts';
import { ofApp } from './sql.ts';

export interface FactsDeps {
  readonly db: Database;
  readonly sealed: SealedCache;
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
    events,
    sessions: () => (sessions ??= sessionFacts(deps)),
    pages: () => (pages ??= pageFacts(deps, events)),
  };
}

/** The cache of one version; null turns it off. */
const memoryOf = (sealed: SealedCache, version: string | null): Memory => ({
  recall: (query, load, keep) => sealed.get(query, version, load, (rows) => rows, keep),
  recallMade: (query, load, make, keep) => sealed.get(query, version, load, make, keep),
  recallEach: (query, keys, load) => sealed.each(query, version, keys, load),
  isRepeated: (query) => sealed.isRepeated(query, version),
});

/** Returns the facts of a kind, with the sessions that have late events in sealed hours. */
async function factsOf(
  { db, sealed, app, snapshot, patched }: FactsDeps,
  kind: FactKind,
): Promise<Facts & { readonly sessions: readonly LateSession[] }> {
  const { until, step, dead } = snapshot.published[kind];
  const hours = snapshot.late[kind];
  const of = { app, where: ofApp(app) + without('run', dead) };
  const memory = memoryOf(sealed, `${step}`);
  const sessions = patched ? await lateSessions(db, memory.recallEach, app, kind, hours) : null;
  const [first] = hours;
  if (sessions === null && first !== undefined) {
    return { ...memoryOf(sealed, null), ...of, until: epochMs(first.hour), hasLate: false, sessions: [] };
  }
  return { ...memory, ...of, until, hasLate: hours.length > 0, sessions: sessions ?? [] };
}

async function sessionFacts(deps: FactsDeps): Promise<SessionFacts> {
  const facts = await factsOf(deps, 'session');
  const { keptFrom, late } = deps.snapshot;
  let read: Promise<LateSessions> | undefined;
  return {
    ...facts,
    keptFrom,
    late: () => (read ??= readLateSessions(deps.db, facts, facts.sessions, late.session)),
  };
}

async function pageFacts(deps: FactsDeps, events: EventFacts): Promise<PageFacts> {
  const facts = await factsOf(deps, 'page');
  let read: Promise<readonly LateKey[]> | undefined;
  return {
    ...facts,
    events,
    late: () => (read ??= readLateKeys(deps.db, facts, facts.sessions, deps.snapshot.late.page)),
  };
}

function eventFacts({ sealed, app, snapshot }: FactsDeps): EventFacts {
  const { until, step } = snapshot.published.page;
  const hours = snapshot.late.page;
  return {
    app,
    until,
    of: (spans) =>
      memoryOf(sealed, hours.length > MOST_LATE_HOURS ? null : `${step} ${lateIn(hours, spans)}`),
  };
}

/** Identifies the late events in the hours of the spans: the text changes with each new one. */
const lateIn = (hours: readonly LateHour[], spans: readonly Span[]): string =>
  hours
    .filter(({ hour }) => spans.some(({ start, end }) => hour < end && hour + HOUR_MS > start))
    .map(({ hour, committed }) => `${hour}:${committed}`)
    .join(' ');
