import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { identifier, type Sql, sql } from '../clickhouse/sql.ts';
import type { AssertHeld, Locks } from '../domain/locks.ts';
import { acceptedFrom } from '../domain/retention.ts';
import { type Clock, type EpochMs, extentOf, type Range } from '../domain/time.ts';
import type { SdkApp } from '../metadata/types.ts';
import type { BatchKey } from './batch-key.ts';
import { flushesEnd } from './flushes-end.ts';
import { piecesOf } from './history-pieces.ts';
import { batchRows, sessionColumns } from './journal-rows.ts';
import { type BatchStore, unavailable } from './once.ts';
import { type Rejection, type ValidSession, validateSessions } from './validate.ts';
import type { ValidEvent } from './validate-event.ts';
import { countEvents } from './wire.ts';

export interface HistoryResult {
  /** The indexes of the sessions of which this import stored something. */
  readonly sessions: readonly number[];
  readonly events: number;
  /** The number of events that were skipped because they are stored already. */
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
}

export interface HistoryOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly store: Pick<BatchStore, 'storeOnce' | 'settled'>;
  /** Returns the flushes with events of the app that are not settled; none if the process is alone on its store. */
  readonly unsettled: (app: string) => Promise<readonly string[]>;
  readonly locks: Locks;
}

/** Imports use the writer's lane: a reader's time limit is too short for them. */
const IMPORT = { lane: 'write' } as const;

type Identity = Pick<ValidEvent, 'timestamp' | 'type' | 'path' | 'label' | 'durationMs'>;

/** The identity of an event within an app: its stored fields except the context. */
export const eventIdentity = (session: { id: string; startedAt: EpochMs }, event: Identity): string =>
  JSON.stringify([
    session.id,
    session.startedAt,
    event.timestamp,
    event.type,
    event.path,
    event.label,
    event.durationMs,
  ]);

/**
 * Imports history. An import can be interrupted, run again and run with a longer file without counting twice.
 * The stored events themselves are the record of earlier imports. Unlike a batch id (7 days), this record
 * lasts as long as the events, and it does not depend on how the file was cut.
 *
 * A file may hold equal events, and all of them count. The n-th of equal events counts as stored if at least
 * n of them are stored. `n` is the event's `occurrence` in the file, or its position among the equal events
 * of the request.
 *
 * Imports into one app take turns, so that no other import stores events between the count and the insert. A turn ends
 * when its batch is settled, also if its sender waited in vain. A process that died has lost its turn, but its flush may
 * still be completed, so the count waits for the flushes that are underway. A process that stopped for a while may have
 * lost its turn without knowing it. So an import claims its batch and then asserts its turn, and the next one takes the turn
 * and then waits for claimed batches: at least one of them sees the other.
 * Sessions of many months are stored in pieces. A piece's batch id is made from all of it that was sent, with the events
 * that are stored already. A process that died may
 * have stored a part of its flush. The repetition has the same id and waits until that flush is whole.
 */
export function createHistory({ db, clock, store, locks, unsettled }: HistoryOptions) {
  return (app: SdkApp, sent: readonly unknown[]): Promise<HistoryResult> => {
    const now = clock();
    const rules = { now, maxAgeDays: null, acceptedFrom: acceptedFrom(app.retention, now), userAgent: '' };
    const { sessions, rejected } = validateSessions(sent, rules);
    const occurrences = new Occurrences(sent);
    let key: BatchKey | undefined;
    const stored = async (
      sessions: readonly ValidSession[],
      assertHeld: AssertHeld,
    ): Promise<Omit<HistoryResult, 'rejected'>> => {
      const there = await countStored(db, app, sessions);
      const missing = there.size === 0 ? sessions : withoutStored(sessions, there, occurrences);
      const all = countEvents(sessions);
      const events = countEvents(missing);
      const nothing = { sessions: [], events: 0, duplicates: all };
      if (events === 0) return nothing;
      const columnsOf = (some: readonly ValidSession[]) =>
        some.map((session) => sessionColumns(session, { app, place: null }));
      const sentColumns = columnsOf(sessions);
      const batch = { app: app.id, batch: uuidOf([...sentColumns, ...occurrences.ofSessions(sessions)]) };
      const columns = missing === sessions ? sentColumns : columnsOf(missing);
      key = batch;
      const outcome = await store.storeOnce(batch, () => batchRows(batch, missing, columns), assertHeld);
      if (outcome === 'duplicate') return nothing;
      return { sessions: missing.map(({ index }) => index), events, duplicates: all - events };
    };
    const imported = async (assertHeld: AssertHeld): Promise<HistoryResult> => {
      if (!(await flushesEnd(() => unsettled(app.id)))) throw unavailable();
      const result = { sessions: [] as number[], events: 0, duplicates: 0 };
      for (const piece of piecesOf(sessions)) {
        const one = await stored(piece, assertHeld);
        result.sessions.push(...one.sessions);
        result.events += one.events;
        result.duplicates += one.duplicates;
      }
      result.sessions.sort((a, b) => a - b);
      return { ...result, rejected };
    };
    return new Promise((resolve, reject) => {
      const turn = locks.withLock(`import ${app.id}`, async (assertHeld) => {
        await imported(assertHeld).then(resolve, reject);
        if (key !== undefined) await store.settled(key);
      });
      turn.catch(reject);
    });
  };
}

function withoutStored(
  sessions: readonly ValidSession[],
  there: ReadonlyMap<string, number>,
  occurrences: Occurrences,
): ValidSession[] {
  return sessions.flatMap((session) => {
    const events = session.events.filter((event) => {
      const identity = eventIdentity(session, event);
      return (there.get(identity) ?? 0) < occurrences.of(session, event.position, identity);
    });
    return events.length === 0 ? [] : [{ ...session, events }];
  });
}

/**
 * Numbers equal events: the 1st, 2nd, … occurrence. The event's own `occurrence` counts; without it, equal
 * events of the request are counted.
 */
class Occurrences {
  readonly #sent: readonly unknown[];
  readonly #counts = new Map<string, number>();

  constructor(sent: readonly unknown[]) {
    this.#sent = sent;
  }

  of(session: ValidSession, position: number, identity: string): number {
    const said = this.#said(session, position);
    if (said !== undefined) return said;
    const count = (this.#counts.get(identity) ?? 0) + 1;
    this.#counts.set(identity, count);
    return count;
  }

  /** Returns the occurrences that these sessions' events state; sessions without any are left out. */
  ofSessions(sessions: readonly ValidSession[]): string[] {
    return sessions.flatMap((session) => {
      const said = session.events.map(({ position }) => this.#said(session, position));
      return said.some((occurrence) => occurrence !== undefined) ? [said.join()] : [];
    });
  }

  #said(session: ValidSession, position: number): number | undefined {
    const { events } = this.#sent[session.index] as { events: readonly { occurrence?: unknown }[] };
    const occurrence = events[position]?.occurrence;
    return typeof occurrence === 'number' && Number.isInteger(occurrence) && occurrence > 0
      ? occurrence
      : undefined;
  }
}

const instant = (name: 'from' | 'to' | 'first' | 'last'): Sql =>
  sql`fromUnixTimestamp64Milli({${identifier(name)}:Int64}, 'UTC')`;
/**
 * The raw table is sorted by hour. The engine does not infer a bound on the hour from a bound on the time.
 */
const OF_APP_IN_RANGE = sql`app_id = {app:UUID}
      AND toStartOfHour(timestamp) >= toStartOfHour(${instant('from')}) AND toStartOfHour(timestamp) <= toStartOfHour(${instant('to')})
      AND timestamp >= ${instant('from')} AND timestamp <= ${instant('to')}`;

const HAS_SESSIONS: Query<{ events: number }> = {
  name: 'import: events of the same time',
  sql: sql`
    SELECT toUInt32(count()) AS events FROM
    (
      SELECT 1 FROM events
      WHERE ${OF_APP_IN_RANGE} AND started_at >= ${instant('first')} AND started_at <= ${instant('last')} LIMIT 1
    )`,
  row: z.object({ events: z.number() }),
};

type StoredRow = Identity & { id: string; startedAt: EpochMs; events: number };

const STORED: Query<StoredRow> = {
  name: 'import: events that are there',
  sql: sql`
    SELECT
      session_id AS id,
      toUnixTimestamp64Milli(started_at) AS startedAt,
      toUnixTimestamp64Milli(timestamp) AS at,
      toString(type) AS kind,
      toString(path) AS page,
      toString(label) AS name,
      duration_ms AS ms,
      toUInt32(count()) AS events
    FROM events
    WHERE ${OF_APP_IN_RANGE}
      AND session_id IN {ids:Array(String)}
    GROUP BY ALL`,
  row: z
    .object({
      id: z.string(),
      startedAt: z.number(),
      at: z.number(),
      kind: z.enum(['pageview', 'click', 'error', 'engagement', 'custom']),
      page: z.string(),
      name: z.string(),
      ms: z.number(),
      events: z.number(),
    })
    .transform(({ id, startedAt, at, kind, page, name, ms, events }) => ({
      id,
      startedAt: startedAt as EpochMs,
      timestamp: at as EpochMs,
      type: kind,
      path: page,
      label: name,
      durationMs: ms,
      events,
    })),
};

/** Session ids per statement. To a server they travel in the URL, and not every proxy accepts long URLs. */
const IDS_PER_QUERY = { embedded: 2_000, server: 100 } as const;

/** Counts how often each event of `sessions` is stored. Events that are not stored are left out. */
async function countStored(
  db: Database,
  app: SdkApp,
  sessions: readonly ValidSession[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (countEvents(sessions) === 0) return counts;
  const { from: first, to: last } = extentOf(sessions.map(({ startedAt }) => startedAt));
  // Skips the count if there is nothing in the range, as in a first import in the order of time.
  const known = await db.queryOne(
    HAS_SESSIONS,
    { app: app.id, ...extentOfEvents(sessions), first, last },
    IMPORT,
  );
  if (known.events === 0) return counts;
  const size = db.exclusive ? IDS_PER_QUERY.embedded : IDS_PER_QUERY.server;
  for (let i = 0; i < sessions.length; i += size) {
    const asked = sessions.slice(i, i + size);
    const ids = [...new Set(asked.map(({ id }) => id))];
    for (const row of await db.query(STORED, { app: app.id, ...extentOfEvents(asked), ids }, IMPORT)) {
      counts.set(eventIdentity(row, row), row.events);
    }
  }
  return counts;
}

const extentOfEvents = (sessions: readonly ValidSession[]): Range =>
  extentOf(sessions.flatMap(({ events }) => events.map(({ timestamp }) => timestamp)));

function uuidOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
