import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import type { Locks } from '../domain/locks.ts';
import type { Clock, EpochMs } from '../domain/time.ts';
import type { SdkApp } from '../metadata/types.ts';
import { journalRows } from './journal-rows.ts';
import type { BatchStore } from './once.ts';
import { type Rejection, type ValidSession, validateSessions } from './validate.ts';
import type { ValidEvent } from './validate-event.ts';

export interface HistoryResult {
  /** Indexes of the sessions of which something was stored now. */
  readonly sessions: readonly number[];
  readonly events: number;
  /** Events left out because they were there. */
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
}

export interface HistoryOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly store: BatchStore;
  readonly locks: Locks;
}

type Identity = Pick<ValidEvent, 'timestamp' | 'type' | 'path' | 'label' | 'durationMs'>;

/** What makes two events of an app equal: everything that is stored of them but the context. */
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

/** Session ids per statement: they travel in the URL, which not every proxy takes in any length. */
const IDS_PER_QUERY = 100;

/**
 * Imports history so that it can be interrupted, run again and run with a longer file without counting twice. The events
 * that are stored are the record of what was imported: it lasts as long as they do (a batch id only 7 days), and it does
 * not depend on how the file was cut. A file may hold equal events, and they all count: an event says, by `occurrence`
 * (1 if absent), the how manieth of its equals in the file it is, and is there when at least as many are stored.
 *
 * Imports into one app take turns: what one checks, no other stores meanwhile. The batch id is made from the content, so
 * that even a repetition that no lock could stop stores nothing twice.
 */
export function createHistory({ db, clock, store, locks }: HistoryOptions) {
  return (app: SdkApp, sent: readonly unknown[]): Promise<HistoryResult> => {
    const rules = { now: clock(), maxAgeDays: null, userAgent: '' };
    const { sessions, rejected } = validateSessions(sent, rules);
    return locks.withLock(`import ${app.id}`, async () => {
      const there = await countStored(db, app, sessions);
      const identities: string[] = [];
      let duplicates = 0;
      const missing = sessions.flatMap((session) => {
        const events = session.events.filter((event) => {
          const identity = eventIdentity(session, event);
          const occurrence = occurrenceOf(sent, session.index, event.position);
          const isThere = (there.get(identity) ?? 0) >= occurrence;
          if (isThere) duplicates++;
          else identities.push(`${identity} ${occurrence}`);
          return !isThere;
        });
        return events.length === 0 ? [] : [{ ...session, events }];
      });
      const events = identities.length;
      if (events === 0) return { sessions: [], events, duplicates, rejected };
      const key = { app: app.id, batch: uuidOf(identities.join('\n')) };
      const outcome = await store.storeOnce(key, () => ({
        events,
        rows: journalRows(key, missing, { app, place: null }),
      }));
      if (outcome === 'duplicate')
        return { sessions: [], events: 0, duplicates: duplicates + events, rejected };
      return { sessions: missing.map(({ index }) => index), events, duplicates, rejected };
    });
  };
}

const Occurrence = z.int().min(1).catch(1);

function occurrenceOf(sent: readonly unknown[], session: number, position: number): number {
  const { events } = sent[session] as { events: readonly { occurrence?: unknown }[] };
  const occurrence = events[position]?.occurrence;
  return occurrence === undefined ? 1 : Occurrence.parse(occurrence);
}

const HAS_SESSIONS: Query<{ sessions: number }> = {
  name: 'import: sessions in range',
  sql: `
    SELECT toUInt32(count()) AS sessions FROM sessions
    WHERE app_id = {app:UUID}
      AND started_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
      AND started_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
  row: z.object({ sessions: z.number() }),
};

type StoredRow = Identity & { id: string; startedAt: EpochMs; events: number };

const STORED: Query<StoredRow> = {
  name: 'import: events that are there',
  sql: `
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
    WHERE app_id = {app:UUID}
      AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
      AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
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

/** How often each event of `sessions` is stored. */
async function countStored(
  db: Database,
  app: SdkApp,
  sessions: readonly ValidSession[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (sessions.length === 0) return counts;
  const starts = extent(sessions.map(({ startedAt }) => startedAt));
  // A first import in the order of time finds nothing here, and is spared the rest.
  if ((await db.queryOne(HAS_SESSIONS, { app: app.id, ...starts })).sessions === 0) return counts;
  const range = extent(sessions.flatMap(({ events }) => events.map(({ timestamp }) => timestamp)));
  const ids = [...new Set(sessions.map(({ id }) => id))];
  for (let i = 0; i < ids.length; i += IDS_PER_QUERY) {
    const some = ids.slice(i, i + IDS_PER_QUERY);
    for (const row of await db.query(STORED, { app: app.id, ...range, ids: some })) {
      counts.set(eventIdentity(row, row), row.events);
    }
  }
  return counts;
}

function extent(values: readonly number[]): { from: number; to: number } {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    from = Math.min(from, value);
    to = Math.max(to, value);
  }
  return { from, to };
}

const uuidOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
