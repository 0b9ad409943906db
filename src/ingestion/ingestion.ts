import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../clickhouse/database.ts';
import { inProcessLocks, type Locks } from '../domain/locks.ts';
import { type Clock, HOUR_MS } from '../domain/time.ts';
import type { SdkApp } from '../metadata/types.ts';
import { createClockSkew } from './clock-skew.ts';
import { Flusher } from './flusher.ts';
import { createHistory, type HistoryResult } from './history.ts';
import { createJournal } from './journal.ts';
import { type Geo, journalRows, sessionColumns } from './journal-rows.ts';
import { BatchStore, unavailable } from './once.ts';
import { type IngestLog, Persistence } from './retry.ts';
import { Settler } from './settler.ts';
import { type Rejection, type Validated, validateSessions } from './validate.ts';
import type { RejectionCode } from './validate-event.ts';
import { createVisitors } from './visitors.ts';
import { type Batch, countEvents } from './wire.ts';

export interface IngestionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: IngestLog;
  readonly geo?: Geo;
  /** For imports; in this process unless given. */
  readonly locks?: Locks;
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
  /** Stores sessions of any age, but for the events that are there. Rejects as `accept` does. */
  importHistory(app: SdkApp, sessions: readonly unknown[]): Promise<HistoryResult>;
  stats(): IngestStats;
  /** Refuses new batches and waits, for some seconds at most, until those that wait are stored. */
  drain(): Promise<void>;
}

const LONGEST_DRAIN_MS = 10_000;
/** A session that names no visitor: one is derived. */
const isAnonymous = (session: unknown): boolean =>
  typeof session === 'object' &&
  session !== null &&
  (!('visitorId' in session) || (session.visitorId ?? null) === null);

const DUPLICATE: IngestResult = { accepted: 0, rejected: [], duplicate: true };

export function createIngestion(options: IngestionOptions): Ingestion {
  const { db, clock, log, geo, maxAgeDays } = options;
  const journal = createJournal(db);
  const persistence = new Persistence(log);
  const settler = new Settler({ journal, persistence, log, exclusive: db.exclusive });
  const flusher = new Flusher({ journal, settler, persistence, exclusive: db.exclusive });
  const store = new BatchStore(flusher, persistence);
  const history = createHistory({ db, clock, store, locks: options.locks ?? inProcessLocks() });
  const visitors = createVisitors({ db, clock });
  const skew = createClockSkew();
  const counts = { acceptedEvents: 0, duplicateBatches: 0 };
  const rejections: Partial<Record<RejectionCode, number>> = {};

  const housekeeping = hourly(log, async () => {
    await visitors.forget();
    await settler.forget();
  });

  async function accept(app: SdkApp, batch: Batch, request: BatchRequest): Promise<IngestResult> {
    let validated: Validated = { sessions: [], rejected: [] };
    const key = { app: app.id, batch: batch.batchId.toLowerCase() };
    const { userAgent, address } = request;
    const ids = batch.sessions.some(isAnonymous) ? await visitors.today() : null;
    const outcome = await store.storeOnce(key, () => {
      const now = clock();
      validated = validateSessions(batch.sessions, {
        now,
        maxAgeDays,
        userAgent,
        correction: skew.correctionFor(app.id, batch.sentAt, now),
        ...(ids === null ? {} : { visitorId: (agent: string) => ids(app.id, address, agent) }),
      });
      const { sessions } = validated;
      const isPlaceless = sessions.some(({ context }) => context.location === null);
      const place = isPlaceless ? (geo?.locate(address) ?? null) : null;
      const columns = sessions.map((session) => sessionColumns(session, { app, place }));
      return { events: countEvents(sessions), rows: journalRows(key, columns) };
    });
    if (outcome === 'duplicate') {
      counts.duplicateBatches++;
      return DUPLICATE;
    }
    const { sessions, rejected } = validated;
    const accepted = countEvents(sessions);
    counts.acceptedEvents += accepted;
    for (const { code } of rejected) rejections[code] = (rejections[code] ?? 0) + 1;
    return { accepted, rejected };
  }

  return {
    start: async () => {
      await settler.start();
      housekeeping.start();
    },
    accept,
    importHistory: history,
    stats: () => ({ ...counts, rejected: { ...rejections } }),
    drain: async () => {
      store.close();
      await housekeeping.end();
      const settled = flusher.idle().then(() => settler.markAll());
      await Promise.race([settled, sleep(LONGEST_DRAIN_MS, undefined, { ref: false })]);
      persistence.stop();
      flusher.dismiss(unavailable());
    },
  };
}

/** Runs `work` at the start and every hour; `end` waits for what has begun. */
function hourly(log: IngestLog, work: () => Promise<void>) {
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    running = work().catch((error: unknown) => {
      log.warn({ err: error }, 'ingestion: what is outdated could not be deleted; tried again in an hour');
    });
  };
  return {
    start: (): void => {
      run();
      timer = setInterval(run, HOUR_MS).unref();
    },
    end: (): Promise<void> => {
      clearInterval(timer);
      return running;
    },
  };
}
