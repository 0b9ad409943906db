import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Database } from '../clickhouse/database.ts';
import { AppError } from '../domain/errors.ts';
import { type Clock, DAY_MS } from '../domain/time.ts';
import type { SdkApp } from '../metadata/types.ts';
import { Flusher, type Outcome } from './flusher.ts';
import { batchKey, createJournal } from './journal.ts';
import { type IngestLog, Persistence } from './retry.ts';
import { eventRows, type Geo } from './rows.ts';
import { Settler } from './settler.ts';
import { type Rejection, type RejectionCode, type Validated, validateSessions } from './validate.ts';
import type { Batch } from './wire.ts';

export interface IngestionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: IngestLog;
  readonly geo?: Geo;
  /** Events older than this are rejected. */
  readonly maxAgeDays: number;
}

/** The request that brought a batch: what sessions fall back to. */
export interface BatchRequest {
  readonly userAgent: string;
  readonly address: string;
}

/** The body of a 200. */
export interface IngestResult {
  /** Events that are stored durably and visible to queries. */
  readonly accepted: number;
  readonly rejected: readonly Rejection[];
  /** The batch id was seen within 7 days: nothing was stored. */
  readonly duplicate?: true;
}

/** Counts since the start of the process, for the operator. */
export interface IngestStats {
  readonly acceptedEvents: number;
  readonly duplicateBatches: number;
  /** Sessions (`invalid_session`, `bot`) and events (the others) that were left out. */
  readonly rejected: Readonly<Partial<Record<RejectionCode, number>>>;
}

export interface Ingestion {
  /** Completes what a crash left behind. Call it before the first `accept`. */
  start(): Promise<void>;
  /**
   * Stores a batch exactly once, whoever sends it how often and to which process. Rejects with `overloaded` when the
   * buffer is full and `store_unavailable` when the store does not take it in time: it may be stored all the same, and
   * the sender repeats it under the same id.
   */
  accept(app: SdkApp, batch: Batch, request: BatchRequest): Promise<IngestResult>;
  stats(): IngestStats;
  /** Refuses new batches and waits, for some seconds at most, until those that wait are stored. */
  drain(): Promise<void>;
}

const REMEMBERED_MS = 7 * DAY_MS;
/** A sender waits this long for the store; its batch goes on without it. */
const LONGEST_WAIT_MS = 15_000;
/** A store that has failed for this long is not worth waiting for. */
const STALLED_AFTER_MS = 5_000;
const LONGEST_DRAIN_MS = 10_000;

export function createIngestion({ db, clock, log, geo, maxAgeDays }: IngestionOptions): Ingestion {
  const journal = createJournal(db);
  const persistence = new Persistence(log);
  const settler = new Settler({ journal, persistence, log, exclusive: db.exclusive });
  const flusher = new Flusher({ journal, settler, persistence, log });
  /** Batches on their way: an equal one that comes meanwhile waits for the first. */
  const underway = new Map<string, Promise<Outcome>>();
  /** Spares the store the most frequent retries; what it does not hold is looked up there. */
  const recent = new LRUCache<string, true>({ max: 20_000, ttl: REMEMBERED_MS - DAY_MS });
  const stats = {
    acceptedEvents: 0,
    duplicateBatches: 0,
    rejected: {} as Partial<Record<RejectionCode, number>>,
  };
  let draining = false;

  function store(
    app: SdkApp,
    batch: Batch,
    { sessions }: Validated,
    { address }: BatchRequest,
  ): Promise<Outcome> {
    const place = sessions.some(({ context }) => context.location === null)
      ? (geo?.locate(address) ?? null)
      : null;
    const lines = sessions.flatMap((session) => eventRows(session, { app, place }));
    const rows = lines.join('\n');
    if (!flusher.hasRoom(lines.length, rows.length)) {
      throw new AppError('overloaded', 'Too many events wait to be stored. Send the batch again.', {
        retryAfterSeconds: 5,
      });
    }
    return flusher.submit({ app: app.id, batch: batch.batchId, events: lines.length, rows });
  }

  async function accept(app: SdkApp, sent: Batch, request: BatchRequest): Promise<IngestResult> {
    const batch = { ...sent, batchId: sent.batchId.toLowerCase() };
    const key = batchKey({ app: app.id, batch: batch.batchId });
    for (let first = underway.get(key); first !== undefined; first = underway.get(key)) {
      const stored = await withinPatience(first).then(
        () => true,
        (error: unknown) => {
          if (underway.get(key) === first) throw error;
          return false;
        },
      );
      if (stored) return duplicate();
    }
    if (recent.has(key)) return duplicate();
    if (draining || persistence.failingForMs > STALLED_AFTER_MS) throw unavailable();
    const validated = validateSessions(batch.sessions, {
      now: clock(),
      maxAgeDays,
      userAgent: request.userAgent,
    });
    const storing = store(app, batch, validated, request);
    underway.set(key, storing);
    storing.then(
      () => {
        recent.set(key, true);
        underway.delete(key);
      },
      () => underway.delete(key),
    );
    if ((await withinPatience(storing)) === 'duplicate') return duplicate();
    return accepted(validated);
  }

  function accepted({ sessions, rejected }: Validated): IngestResult {
    const events = sessions.reduce((sum, session) => sum + session.events.length, 0);
    stats.acceptedEvents += events;
    for (const { code } of rejected) stats.rejected[code] = (stats.rejected[code] ?? 0) + 1;
    return { accepted: events, rejected };
  }

  function duplicate(): IngestResult {
    stats.duplicateBatches++;
    return { accepted: 0, rejected: [], duplicate: true };
  }

  return {
    start: () => settler.start(),
    accept,
    stats: () => ({ ...stats, rejected: { ...stats.rejected } }),
    drain: async () => {
      draining = true;
      await Promise.race([flusher.idle(), sleep(LONGEST_DRAIN_MS, undefined, { ref: false })]);
      persistence.stop();
      flusher.dismiss(unavailable());
    },
  };
}

const unavailable = (): AppError =>
  new AppError('store_unavailable', 'The store does not take events. Send the batch again.', {
    retryAfterSeconds: 5,
  });

/** `work`, or `store_unavailable` when it takes too long; it goes on all the same. */
async function withinPatience<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const impatience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable()), LONGEST_WAIT_MS);
  });
  try {
    return await Promise.race([work, impatience]);
  } finally {
    clearTimeout(timer);
  }
}
