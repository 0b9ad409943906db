import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../clickhouse/database.ts';
import { AppError } from '../domain/errors.ts';
import { every } from '../domain/every.ts';
import { inProcessLocks, type Locks } from '../domain/locks.ts';
import { type Clock, MINUTE_MS, toIso } from '../domain/time.ts';
import { Underway } from '../facts/underway.ts';
import type { SdkApp } from '../metadata/types.ts';
import { createClockSkew } from './clock-skew.ts';
import { Flusher, type Outcome, type StoredFlush } from './flusher.ts';
import { createHistory, type HistoryResult } from './history.ts';
import { createJournal } from './journal.ts';
import { batchRows, type Geo, sessionColumns } from './journal-rows.ts';
import { KnownBatches } from './known-batches.ts';
import { BatchStore, unavailable } from './once.ts';
import { type IngestLog, Persistence } from './retry.ts';
import { createSetAside, type SetAsideBatch } from './set-aside.ts';
import { Settler } from './settler.ts';
import { type IngestCounts, type RefusalCode, Tally } from './tally.ts';
import { type Rejection, type Validated, validateSessions } from './validate.ts';
import { createVisitors } from './visitors.ts';
import { type Batch, countEvents } from './wire.ts';

export interface IngestionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: IngestLog;
  readonly geo?: Geo;
  /** Locks for imports; within this process unless given. */
  readonly locks?: Locks;
  /** The flushes underway, shared with the answer caches. */
  readonly underway?: Underway;
  readonly onFlush?: (flush: StoredFlush) => void;
  /** Older events are rejected. */
  readonly maxAgeDays: number;
}

/** The request that brought a batch. Its data are the defaults of the batch's sessions. */
export interface BatchRequest {
  readonly userAgent: string;
  readonly address: string;
}

/** The body of a 200. */
export interface IngestResult {
  /** Events that are stored durably and visible to queries. */
  readonly accepted: number;
  readonly rejected: readonly Rejection[];
  /** Set if the batch id was seen within 7 days. Nothing was stored then. */
  readonly duplicate?: true;
}

/** Figures for the operator. */
export interface IngestStats extends IngestCounts {
  /** When the counting began: the start of this process. */
  readonly since: string;
  /** The content of the buffer: not stored yet. */
  readonly waiting: { readonly batches: number; readonly events: number; readonly bytes: number };
  /** Batches of which only a part is stored. The rest is tried every half minute. */
  readonly held: number;
}

export interface Ingestion {
  /** Completes flushes that a crash left behind. Call it before the first `accept`. */
  start(): Promise<void>;
  /**
   * Stores a batch exactly once, however often and to whichever process it is sent. Rejects with `overloaded`
   * if the buffer is full, and with `store_unavailable` if the store does not take the batch in time. It may
   * be stored all the same, and the sender repeats it under the same id.
   */
  accept(app: SdkApp, batch: Batch, request: BatchRequest): Promise<IngestResult>;
  /** Stores sessions of any age, without the events that are stored already. Rejects like `accept`. */
  importHistory(app: SdkApp, sessions: readonly unknown[]): Promise<HistoryResult>;
  stats(): IngestStats;
  /** Batches that the store refused alone. */
  readonly setAside: {
    list(): Promise<SetAsideBatch[]>;
    /** Stores the batch once. If that fails, it stays aside. Rejects like `accept`. */
    repeat(id: string): Promise<{ readonly id: string; readonly outcome: Outcome }>;
    drop(id: string): Promise<void>;
  };
  /** Retries flushes that are held or were left behind. Runs by itself every half minute. */
  sweep(): Promise<void>;
  /** Refuses new batches and waits, at most some seconds, until the waiting ones are stored. */
  drain(): Promise<void>;
}

const LONGEST_DRAIN_MS = 10_000;
/**
 * Each start reads the journal, and so does each flush if several processes are on the store. Hence it is
 * kept small.
 */
const FORGET_EVERY_MS = 10 * MINUTE_MS;
const SWEEP_EVERY_MS = 30_000;
/** True for a session without a visitor: its visitor id is derived. */
const isAnonymous = (session: unknown): boolean =>
  typeof session === 'object' &&
  session !== null &&
  (!('visitorId' in session) || (session.visitorId ?? null) === null);

const DUPLICATE: IngestResult = { accepted: 0, rejected: [], duplicate: true };

export function createIngestion(options: IngestionOptions): Ingestion {
  const { db, clock, log, geo, maxAgeDays, underway = new Underway() } = options;
  const journal = createJournal(db);
  const persistence = new Persistence(log);
  const settler = new Settler({ journal, persistence, log, exclusive: db.exclusive, underway });
  const known = db.exclusive ? new KnownBatches() : null;
  const setAside = createSetAside(db);
  const flusher = new Flusher({
    journal,
    settler,
    persistence,
    setAside,
    log,
    known,
    ...(options.onFlush === undefined ? {} : { onFlush: options.onFlush }),
  });
  const store = new BatchStore(flusher, persistence);
  const history = createHistory({ db, clock, store, locks: options.locks ?? inProcessLocks() });
  const visitors = createVisitors({ db, clock });
  const skew = createClockSkew();
  const tally = new Tally();
  const since = toIso(clock());

  const housekeeping = every({ name: 'forget old rows', ms: FORGET_EVERY_MS, log }, async () => {
    await visitors.forget();
    await setAside.forget();
    await settler.forget();
  });
  const sweeping = every({ name: 'sweep', ms: SWEEP_EVERY_MS, log }, () => settler.sweep());
  const reporting = every({ name: 'report', ms: MINUTE_MS, log }, async () => {
    const news = tally.news();
    if (news !== null) log.info(news, 'ingestion: rejected or refused in the last minute, by reason');
  });

  async function counted<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof AppError && isRefusal(error.code)) tally.refuse(error.code);
      throw error;
    }
  }

  async function acceptBatch(app: SdkApp, batch: Batch, request: BatchRequest): Promise<IngestResult> {
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
      return batchRows(key, sessions, columns);
    });
    if (outcome === 'duplicate') {
      tally.duplicate();
      return DUPLICATE;
    }
    const { sessions, rejected } = validated;
    const accepted = countEvents(sessions);
    tally.accept(accepted, rejected);
    return { accepted, rejected };
  }

  return {
    start: async () => {
      await settler.start();
      known?.load(journal.storedAfter).catch((error: unknown) => {
        log.warn({ err: error }, 'ingestion: stored batches could not be read; each will be looked up');
      });
      housekeeping.start();
      sweeping.start();
      reporting.start();
    },
    accept: (app, batch, request) => counted(acceptBatch(app, batch, request)),
    importHistory: async (app, sessions) => {
      const result = await counted(history(app, sessions));
      tally.accept(result.events, result.rejected);
      return result;
    },
    setAside: {
      list: setAside.list,
      drop: setAside.drop,
      repeat: async (id) => {
        const { key, ...rows } = await setAside.get(id);
        const outcome = await counted(store.storeOnce(key, () => rows));
        await setAside.done(id);
        return { id, outcome };
      },
    },
    sweep: () => settler.sweep(),
    stats: () => ({ since, ...tally.counts(), waiting: flusher.held, held: settler.heldBatches }),
    drain: async () => {
      store.close();
      known?.close();
      const stored = flusher.idle().then(() => settler.markAll());
      const settled = Promise.all([housekeeping.end(), sweeping.end(), reporting.end(), stored]);
      await Promise.race([settled, sleep(LONGEST_DRAIN_MS, undefined, { ref: false })]);
      persistence.stop();
      flusher.dismiss(unavailable());
    },
  };
}

const isRefusal = (code: string): code is RefusalCode =>
  code === 'overloaded' || code === 'store_unavailable';
