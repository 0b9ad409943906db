import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { vi } from 'vitest';
import { z } from 'zod';
import type { Database, Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { AppError } from '../../src/domain/errors.ts';
import { appId } from '../../src/domain/ids.ts';
import type { Locks } from '../../src/domain/locks.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createIngestion, type Ingestion, type IngestResult } from '../../src/ingestion/ingestion.ts';
import type { Flush } from '../../src/ingestion/journal.ts';
import { journalRows, sessionColumns } from '../../src/ingestion/journal-rows.ts';
import { hoursOf, mergedHours } from '../../src/ingestion/ledger-rows.ts';
import { validateSessions } from '../../src/ingestion/validate.ts';
import type { Batch } from '../../src/ingestion/wire.ts';
import type { SdkApp } from '../../src/metadata/types.ts';

export const NOW = epochMs(Date.parse('2026-11-20T12:00:00.000Z'));
export const REQUEST = { userAgent: 'node', address: '127.0.0.1' };
export const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const newApp = (): SdkApp => ({ id: appId(randomUUID()), domain: 'https://shop.example' });

export const ingestionOn = (db: Database, clock = () => NOW, locks?: Locks): Ingestion =>
  createIngestion({ db, clock, log: SILENT, maxAgeDays: 730, ...(locks === undefined ? {} : { locks }) });

/** A session of `events` pageviews, one per second. Many of them span several partitions and Tehran days. */
export function session(id: string, events = 3): object {
  const startedAt = Date.parse('2026-10-31T20:29:58.000Z');
  return {
    id,
    visitorId: `visitor-${id}`,
    startedAt: new Date(startedAt).toISOString(),
    context: { utm: { source: 'newsletter' }, location: { country: 'IR', latitude: 35.7, longitude: 51.4 } },
    events: Array.from({ length: events }, (_, i) => ({
      type: 'pageview',
      timestamp: new Date(startedAt + i * 5_400_000).toISOString(),
      path: `/page-${i}`,
    })),
  };
}

/** A batch of one session with 12 pageviews, as a process that dies leaves it. */
export function flushOf(app: SdkApp, batchId: string): Flush {
  const rules = { now: NOW, maxAgeDays: null, userAgent: '' };
  const { sessions } = validateSessions([session('s', 12)], rules);
  const batch = { app: app.id, batch: batchId };
  const columns = sessions.map((valid) => sessionColumns(valid, { app, place: null }));
  const hours = mergedHours(hoursOf(app.id, sessions));
  return { id: randomUUID(), batches: [{ ...batch, rows: journalRows(batch, columns) }], hours };
}

/** Runs `work` as if a minute had passed, by the clock that measures for how long a flush has been open. */
export async function afterLease(work: () => Promise<void>): Promise<void> {
  const now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now + 61_000);
  try {
    await work();
  } finally {
    vi.restoreAllMocks();
  }
}

/** One count from every place that stores it. */
export interface Totals {
  readonly raw: number;
  readonly sessions: number;
  readonly sessionPageviews: number;
  readonly utcHour: number;
  readonly utcDay: number;
  readonly tehranHour: number;
  readonly tehranDay: number;
  readonly ledgerEvents: number;
  readonly ledgerSessions: number;
}

const count = z.coerce.number();
const TOTALS: Query<Totals> = {
  name: 'totals',
  sql: sql`
    WITH traffic_sum AS (SELECT grain, sum(pageviews) AS views FROM traffic WHERE app_id = {app:UUID} GROUP BY grain)
    SELECT
      (SELECT count() FROM events WHERE app_id = {app:UUID}) AS raw,
      (SELECT uniqExact(started_at, session) FROM sessions WHERE app_id = {app:UUID}) AS sessions,
      (SELECT sum(pageviews) FROM sessions WHERE app_id = {app:UUID}) AS sessionPageviews,
      (SELECT sum(views) FROM traffic_sum WHERE grain = 'utc_hour') AS utcHour,
      (SELECT sum(views) FROM traffic_sum WHERE grain = 'utc_day') AS utcDay,
      (SELECT sum(views) FROM traffic_sum WHERE grain = 'tehran_hour') AS tehranHour,
      (SELECT sum(views) FROM traffic_sum WHERE grain = 'tehran_day') AS tehranDay,
      (SELECT sum(events) FROM ledger WHERE app_id = {app:UUID} AND kind = 'event') AS ledgerEvents,
      (SELECT sum(events) FROM ledger WHERE app_id = {app:UUID} AND kind = 'session') AS ledgerSessions`,
  row: z.object({
    raw: count,
    sessions: count,
    sessionPageviews: count,
    utcHour: count,
    utcDay: count,
    tehranHour: count,
    tehranDay: count,
    ledgerEvents: count,
    ledgerSessions: count,
  }),
};

export const totalsOf = (db: Database, app: string): Promise<Totals> => db.queryOne(TOTALS, { app });

/** The expected result of `totalsOf`: `sessions` sessions with `events` pageviews in all, stored once. */
export const stored = (sessions: number, events: number): Totals => ({
  raw: events,
  sessions,
  sessionPageviews: events,
  utcHour: events,
  utcDay: events,
  tehranHour: events,
  tehranDay: events,
  ledgerEvents: events,
  ledgerSessions: events,
});

/** Sends again while the store does not take it in time, as senders do. `onRepeat` runs before. */
export async function untilTaken<T>(
  send: () => Promise<T>,
  onRepeat: () => unknown = () => undefined,
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'store_unavailable') throw error;
      await onRepeat();
    }
    // A service whose store is away refuses at once. Without a pause, nothing else would get its turn.
    await setTimeout(50);
  }
}

export const sentUntilTaken = (
  ingestion: Ingestion,
  app: SdkApp,
  batch: Batch,
  onRepeat?: () => unknown,
): Promise<IngestResult> => untilTaken(() => ingestion.accept(app, batch, REQUEST), onRepeat);
