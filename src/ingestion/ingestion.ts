import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../clickhouse/database.ts';
import { AppError } from '../domain/errors.ts';
import { every } from '../domain/every.ts';
import type { AppId } from '../domain/ids.ts';
import { inProcessLocks, type Locks } from '../domain/locks.ts';
import { acceptedFrom } from '../domain/retention.ts';
import { type Clock, type EpochMs, MINUTE_MS, toIso } from '../domain/time.ts';
import type { SdkApp } from '../metadata/types.ts';
import { sharingOf } from '../sharing/choose.ts';
import type { Outcome } from './batch-buffer.ts';
import { createClockSkew } from './clock-skew.ts';
import type { StoredFlush } from './flusher.ts';
import { flushesEnd } from './flushes-end.ts';
import { createHistory, type HistoryResult, type SentKind } from './history.ts';
import { createJournal, type StoredBatch } from './journal.ts';
import { batchRows, type Geo, sessionColumns } from './journal-rows.ts';
import { BatchStore, unavailable } from './once.ts';
import type { IngestLog } from './retry.ts';
import { createSetAside, type SetAsideBatch } from './set-aside.ts';
import { type IngestCounts, type RefusalCode, Tally } from './tally.ts';
import { type Rejection, validateSessions } from './validate.ts';
import { createVisitors } from './visitors.ts';
import type { Batch } from './wire.ts';
import { Writers } from './writers.ts';

export interface IngestionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: IngestLog;
  readonly geo?: Geo;
  /** Locks for imports; within this process unless given. */
  readonly locks?: Locks;
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
  /** Batches in flushes of which the store refuses a step. It is tried every half minute. */
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
  /** Stores sessions or visits of any age, without the events that are stored already. Rejects like `accept`. */
  importHistory(app: SdkApp, sent: readonly unknown[], kind?: SentKind): Promise<HistoryResult>;
  stats(): IngestStats;
  /** Batches that the store refused alone. */
  readonly setAside: {
    list(): Promise<SetAsideBatch[]>;
    /** Stores the batch once. If that fails, it stays aside. Rejects like `accept`. */
    repeat(id: string): Promise<{ readonly id: string; readonly outcome: Outcome }>;
    drop(id: string): Promise<void>;
  };
  /**
   * Runs `work` while no event of the app is being stored. Batches that come meanwhile wait in this process. Other
   * processes on the store do not wait, so `work` begins at a moment when they store no such event. `until`: the
   * store's time; all events of the app were inserted before. Throws `overloaded` if there is no such moment within
   * some seconds.
   */
  whileQuiet<T>(app: AppId, work: (until: EpochMs) => Promise<T>): Promise<T>;
  /** Marks an imported app's batches as stored. */
  adopt(batches: readonly StoredBatch[]): Promise<void>;
  /** Retries flushes that are held or were left behind. Runs by itself every half minute. */
  sweep(): Promise<void>;
  /**
   * Keeps every process from beginning to store a flush, until `end` is called. It lapses after some seconds. Senders
   * wait meanwhile.
   */
  pause(): Promise<{ end(): Promise<void> }>;
  /** The number of flushes of which a part may be stored. */
  underway(): Promise<number>;
  /**
   * Makes every process pause until no event of the app is being stored, and returns that moment by the store's clock: all
   * events of the app that were inserted until then are committed, and those that are inserted later are not begun yet.
   * Throws `overloaded` if a flush with events of the app does not come to its end.
   */
  moment(app: AppId): Promise<EpochMs>;
  /** Deletes settled flushes from the journal, which runs by itself every few minutes. */
  forgetSettled(): Promise<void>;
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
/** How long `whileQuiet` looks for a quiet moment, and how often. Senders wait for 15 s. */
const LONGEST_NOISE_MS = 10_000;
const QUIET_LOOK_MS = 50;
/** True for a session without a visitor: its visitor id is derived. */
const isAnonymous = (session: unknown): boolean =>
  typeof session === 'object' &&
  session !== null &&
  (!('visitorId' in session) || (session.visitorId ?? null) === null);

const DUPLICATE: IngestResult = { accepted: 0, rejected: [], duplicate: true };

export function createIngestion(options: IngestionOptions): Ingestion {
  const { db, clock, log, geo, maxAgeDays } = options;
  const journal = createJournal(db);
  const flushes = sharingOf(db).flushes();
  const { known } = flushes;
  const setAside = createSetAside(db);
  const writers = new Writers({
    db,
    journal,
    setAside,
    known,
    log,
    ...(options.onFlush === undefined ? {} : { onFlush: options.onFlush }),
  });
  const store = new BatchStore(writers);
  const history = createHistory({
    db,
    clock,
    store,
    locks: options.locks ?? inProcessLocks(),
    unsettled: flushes.ofOthers,
  });
  const visitors = createVisitors({ db, clock });
  const skew = createClockSkew(db);
  const quiet = inProcessLocks();
  const tally = new Tally();
  const since = toIso(clock());

  const housekeeping = every({ name: 'forget old rows', ms: FORGET_EVERY_MS, log }, async () => {
    await visitors.forget();
    await setAside.forget();
    await journal.forget();
  });
  const sweep = async (): Promise<void> => {
    await writers.sweep();
    await flushes.keepUp(writers.areRepeating);
  };
  const sweeping = every({ name: 'sweep', ms: SWEEP_EVERY_MS, log }, sweep);
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
    const key = { app: app.id, batch: batch.batchId.toLowerCase() };
    const { userAgent, address } = request;
    const ids = batch.sessions.some(isAnonymous) ? await visitors.today() : null;
    const correction = await skew.correctionFor(app.id, batch, clock());
    const stored = await store.storeOnce(key, () => {
      const now = clock();
      const { sessions, rejected } = validateSessions(batch.sessions, {
        now,
        maxAgeDays,
        acceptedFrom: acceptedFrom(app.retention, now),
        userAgent,
        isExcluded: app.excludes?.(address) ?? false,
        correction,
        ...(ids === null ? {} : { visitorId: (agent: string) => ids(app.id, address, agent) }),
      });
      const isPlaceless = sessions.some(({ context }) => context.location === null);
      const place = isPlaceless ? (geo?.locate(address) ?? null) : null;
      const columns = sessions.map((session) => sessionColumns(session, { app, place }));
      return { ...batchRows(key, sessions, columns), rejected };
    });
    if (stored === null) {
      tally.duplicate();
      return DUPLICATE;
    }
    const { events: accepted, rejected } = stored;
    tally.accept(accepted, rejected);
    return { accepted, rejected };
  }

  async function quietAt(app: AppId): Promise<EpochMs> {
    await writers.markAll();
    for (const started = performance.now(); performance.now() - started < LONGEST_NOISE_MS; ) {
      const unsettled = await journal.unsettled(app);
      if (unsettled.flushes.length === 0) return unsettled.at;
      await sleep(QUIET_LOOK_MS);
    }
    throw new AppError('overloaded', 'Events of this app are being stored all the time. Try again shortly.', {
      retryAfterSeconds: 10,
    });
  }

  async function moment(app: AppId): Promise<EpochMs> {
    // Nobody is paused for a flush that does not end.
    await writers.markAll();
    if (!(await flushesEnd(async () => (await journal.underway(app)).flushes))) throw storedInPart();
    const paused = await flushes.pause(writers);
    try {
      for (const started = performance.now(); performance.now() - started < LONGEST_NOISE_MS; ) {
        await writers.markAll();
        const underway = await journal.underway(app);
        if (underway.flushes.length === 0 && !flushes.areUnwritten(writers)) return underway.at;
        await sleep(QUIET_LOOK_MS);
      }
    } finally {
      // If this fails, the pause lapses.
      await paused.end().catch(() => undefined);
    }
    throw storedInPart();
  }

  return {
    // Two callers for one app take turns.
    whileQuiet: (app, work) =>
      quiet.withLock(app, async () => {
        const release = await writers.of(app).turns.keepBack(app);
        try {
          return await work(await quietAt(app));
        } finally {
          release();
        }
      }),
    adopt: async (batches) => {
      await journal.adopt(batches);
      for (const batch of batches) known?.add(batch);
    },
    start: async () => {
      await writers.start();
      await flushes.keepUp(writers.areRepeating);
      known?.load(journal.storedAfter).catch((error: unknown) => {
        log.warn({ err: error }, 'ingestion: stored batches could not be read; each will be looked up');
      });
      housekeeping.start();
      sweeping.start();
      reporting.start();
    },
    accept: (app, batch, request) => counted(acceptBatch(app, batch, request)),
    importHistory: async (app, sent, kind) => {
      const result = await counted(history(app, sent, kind));
      tally.accept(result.events, result.rejected);
      return result;
    },
    setAside: {
      list: setAside.list,
      drop: setAside.drop,
      repeat: async (id) => {
        const { key, ...rows } = await setAside.take(id);
        const stored = await counted(store.storeOnce(key, () => rows));
        await setAside.done(id);
        return { id, outcome: stored === null ? 'duplicate' : 'stored' };
      },
    },
    sweep,
    stats: () => ({ since, ...tally.counts(), waiting: writers.size, held: writers.heldBatches }),
    pause: () => flushes.pause(writers),
    underway: async () => (flushes.areUnwritten(writers) ? 1 : (await journal.underway()).flushes.length),
    moment,
    forgetSettled: () => journal.forget(),
    drain: async () => {
      store.close();
      known?.close();
      const settled = Promise.all([housekeeping.end(), sweeping.end(), reporting.end(), writers.idle()]);
      await Promise.race([settled, sleep(LONGEST_DRAIN_MS, undefined, { ref: false })]);
      writers.stop(unavailable());
    },
  };
}

const isRefusal = (code: string): code is RefusalCode =>
  code === 'overloaded' || code === 'store_unavailable';

const storedInPart = (): AppError =>
  new AppError(
    'overloaded',
    'Events of this app are stored in part. Try again in two minutes, or see "ingestion status".',
    {
      retryAfterSeconds: 120,
    },
  );
