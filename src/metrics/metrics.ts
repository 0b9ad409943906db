import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  openMetricsContentType,
  prometheusContentType,
  Registry,
} from 'prom-client';
import type { Backup } from '../backup/backups.ts';
import type { StatementStats } from '../clickhouse/database.ts';
import type { SealingHealth } from '../facts/sealer.ts';
import type { AnswerSource } from '../http/answer/answers.ts';
import type { Served } from '../http/server/request-log.ts';
import type { StoredFlush } from '../ingestion/flusher.ts';
import type { IngestStats } from '../ingestion/ingestion.ts';
import type { RedisState } from '../redis/link.ts';
import { VERSION } from '../version.ts';
import type { Measured } from './measured.ts';
import { asTextFormat } from './text-format.ts';
import { engineThreads, processThreads } from './threads.ts';

/*
 * The metrics of a process for its monitoring. Names and units follow the conventions of Prometheus: base units, `_total`
 * for counters. Labels take few values: no app, no key, no path of a visitor is one.
 */

/** The formats of the metrics, by their media types. The first one is preferred if a scraper accepts both equally. */
export const METRICS_FORMATS = ['application/openmetrics-text', 'text/plain'] as const;
export type MetricsFormat = (typeof METRICS_FORMATS)[number];

/** Hours that were sealed. */
export interface SealedStretch {
  readonly kind: string;
  /** True for hours that got late events. */
  readonly isRepair: boolean;
  readonly events: number;
  readonly ms: number;
}

/** State that is read when the metrics are asked for. */
export interface MetricSources {
  readonly ingestion: () => IngestStats;
  readonly sealing: () => SealingHealth;
  readonly measured: () => Measured;
  /** Null without Redis. */
  readonly redisState: () => RedisState | null;
  /** The number of callers that wait for a place at the store, by lane. */
  readonly waiting: () => Readonly<Record<string, number>>;
  /** The number of open event streams, and of the answers that they have sent. */
  readonly streams: () => { readonly open: number; readonly answers: number };
}

/** From a 304 out of memory to the longest question. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 45];
const STATEMENT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120];
const FLUSH_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FLUSH_EVENTS = [1, 10, 100, 1_000, 10_000, 40_000];
/** From one small app to the longest statement of sealing. */
const STRETCH_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];
/** A request above this is worth a link from the metrics to its log line. */
const EXEMPLAR_MS = 100;
/** Statements beyond this many names count as `other`. */
const MOST_NAMES = 300;

export class Metrics {
  readonly #registry = new Registry<typeof openMetricsContentType>();
  readonly #requests: Histogram<'route' | 'status' | 'request_id'>;
  readonly #statements: Histogram<'name' | 'lane' | 'outcome'>;
  readonly #queued: Histogram<'lane'>;
  readonly #rows: Counter<'name'>;
  readonly #answers: Counter<'source'>;
  readonly #stretches: Histogram<'kind' | 'work'>;
  readonly #sealed: Counter<'kind' | 'work'>;
  readonly #expired: Counter;
  readonly #fallbacks: Counter;
  readonly #flushSeconds: Histogram;
  readonly #flushEvents: Histogram;
  readonly #names = new Set<string>();

  constructor() {
    this.#registry.setContentType(openMetricsContentType);
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    new Gauge({
      name: 'analytics_build_info',
      help: '1; its labels are the versions of the service and of Node.',
      labelNames: ['version', 'node'],
      registers,
    }).set({ version: VERSION, node: process.versions.node }, 1);
    this.#requests = new Histogram({
      name: 'analytics_http_request_duration_seconds',
      help: 'Time from the request to the end of its answer.',
      labelNames: ['route', 'status'],
      buckets: REQUEST_SECONDS,
      enableExemplars: true,
      registers,
    });
    this.#statements = new Histogram({
      name: 'analytics_store_statement_duration_seconds',
      help: 'Time that a statement took in the store.',
      labelNames: ['name', 'lane', 'outcome'],
      buckets: STATEMENT_SECONDS,
      registers,
    });
    this.#queued = new Histogram({
      name: 'analytics_store_queue_duration_seconds',
      help: 'Time that a statement waited for its place.',
      labelNames: ['lane'],
      buckets: STATEMENT_SECONDS,
      registers,
    });
    this.#rows = new Counter({
      name: 'analytics_store_rows_read_total',
      help: 'Rows that statements read, if the store reports them.',
      labelNames: ['name'],
      registers,
    });
    this.#answers = new Counter({
      name: 'analytics_answers_total',
      help: 'Answers of analytics: computed, shared with another caller, cached, cached and older (max-stale), or a 304.',
      labelNames: ['source'],
      registers,
    });
    this.#stretches = new Histogram({
      name: 'analytics_sealing_stretch_duration_seconds',
      help: 'Time that sealing a stretch of hours took: new hours, or a repair of hours that got late events.',
      labelNames: ['kind', 'work'],
      buckets: STRETCH_SECONDS,
      registers,
    });
    this.#sealed = new Counter({
      name: 'analytics_sealing_events_total',
      help: 'Events of the hours that were sealed or repaired.',
      labelNames: ['kind', 'work'],
      registers,
    });
    this.#expired = new Counter({
      name: 'analytics_expired_events_total',
      help: 'Raw events that were deleted because their retention ended.',
      registers,
    });
    this.#fallbacks = new Counter({
      name: 'analytics_rate_limit_fallbacks_total',
      help: 'Requests that this process counted alone, because Redis did not answer.',
      registers,
    });
    this.#flushSeconds = new Histogram({
      name: 'analytics_ingestion_flush_duration_seconds',
      help: 'Time that a flush took, from its first step until its batches are stored.',
      buckets: FLUSH_SECONDS,
      registers,
    });
    this.#flushEvents = new Histogram({
      name: 'analytics_ingestion_flush_events',
      help: 'Events of a flush.',
      buckets: FLUSH_EVENTS,
      registers,
    });
  }

  readonly request = ({ route, status, ms, requestId, isStream, appId }: Served): void => {
    // Whether an answer is unchanged is known after its source.
    if (status === 304 && appId !== undefined) this.#answers.inc({ source: 'unchanged' });
    // Its time is how long the caller stayed: it would spoil the percentiles.
    if (isStream) return;
    const exemplarLabels = ms >= EXEMPLAR_MS ? { request_id: requestId } : {};
    this.#requests.observe({ labels: { route, status }, value: ms / 1_000, exemplarLabels });
  };

  readonly statement = ({ name, lane, ms, queuedMs, outcome }: StatementStats): void => {
    this.#statements.observe({ name: this.#bounded(name), lane, outcome }, ms / 1_000);
    this.#queued.observe({ lane }, queuedMs / 1_000);
  };

  readonly rowsRead = (name: string, rows: number): void => {
    this.#rows.inc({ name: this.#bounded(name) }, rows);
  };

  readonly answer = (source: AnswerSource): void => {
    this.#answers.inc({ source });
  };

  readonly stretch = ({ kind, isRepair, events, ms }: SealedStretch): void => {
    const labels = { kind, work: isRepair ? 'repair' : 'new' };
    this.#stretches.observe(labels, ms / 1_000);
    this.#sealed.inc(labels, events);
  };

  readonly expired = (events: number): void => {
    this.#expired.inc(events);
  };

  readonly fallback = (): void => {
    this.#fallbacks.inc();
  };

  readonly flush = ({ events, ms }: StoredFlush): void => {
    this.#flushSeconds.observe(ms / 1_000);
    this.#flushEvents.observe(events);
  };

  /** Adds the metrics that are read from the parts of the service when they are asked for. */
  observe(sources: MetricSources): void {
    this.#observeIngestion(sources.ingestion);
    this.#add(
      Gauge,
      'analytics_sealing_lag_seconds',
      'The lag of the app that is furthest behind.',
      'kind',
      () => Object.entries(sources.sealing().lagSeconds),
    );
    this.#observeMeasured(sources.measured);
    this.#observeBackups(sources.measured);
    this.#add(
      Gauge,
      'analytics_redis_up',
      '1 if Redis answers, 0 if not; absent without Redis.',
      null,
      () => {
        const state = sources.redisState();
        return state === null ? [] : [['', Number(state === 'up')]];
      },
    );
    this.#add(Gauge, 'analytics_store_waiting', 'Callers that wait for a place at the store.', 'lane', () =>
      Object.entries(sources.waiting()),
    );
    this.#add(Gauge, 'analytics_streams_open', 'Open event streams.', null, () => [
      ['', sources.streams().open],
    ]);
    this.#add(Counter, 'analytics_stream_answers_total', 'Answers sent on event streams.', null, () => [
      ['', sources.streams().answers],
    ]);
    this.#add(
      Gauge,
      'analytics_process_threads',
      'Threads of the process, with those of the engine.',
      null,
      processThreads,
    );
    this.#add(
      Gauge,
      'analytics_engine_threads',
      'Threads of the embedded engine; 0 with a server.',
      null,
      engineThreads,
    );
  }

  /** Adds the state of the store's parts. */
  observeDamage(damage: { readonly parts: readonly unknown[]; readonly rebuilds: number }): void {
    this.#add(
      Gauge,
      'analytics_damaged_parts',
      'Damaged parts of the store: nothing is answered.',
      null,
      () => [['', damage.parts.length]],
    );
    this.#add(
      Counter,
      'analytics_damage_rebuilds_total',
      'How often facts or counts were computed again because their parts were damaged.',
      null,
      () => [['', damage.rebuilds]],
    );
  }

  #observeMeasured(measured: () => Measured): void {
    this.#add(
      Gauge,
      'analytics_engine_memory_bytes',
      'Memory of the embedded engine: allocated by it, and held for it.',
      'state',
      () => measured().engineMemory,
    );
    this.#add(
      Gauge,
      'analytics_sealing_late_events',
      'Events that arrived after their hour was sealed and wait for a repair.',
      'kind',
      () => measured().lateEvents,
    );
    this.#add(Gauge, 'analytics_disk_free_bytes', 'Free space of a disk.', 'disk', () =>
      measured().disks.map(({ disk, free }) => [disk, free]),
    );
    this.#add(Gauge, 'analytics_disk_size_bytes', 'Size of a disk.', 'disk', () =>
      measured().disks.map(({ disk, size }) => [disk, size]),
    );
  }

  /** Absent until a backup was made, by any process. */
  #observeBackups(measured: () => Measured): void {
    const ended = (backup: Backup | null): number =>
      backup === null ? 0 : Date.parse(backup.madeAt) / 1_000 + backup.seconds;
    this.#add(
      Gauge,
      'analytics_backup_last_timestamp_seconds',
      'When the last backup ended that was made, and the last that failed.',
      'outcome',
      () =>
        Object.entries(measured().backups)
          .filter(([, backup]) => backup !== null)
          .map(([outcome, backup]) => [outcome, ended(backup)]),
    );
    const lastMade = (value: (backup: Backup) => number) => (): readonly (readonly [string, number])[] => {
      const { made } = measured().backups;
      return made === null ? [] : [['', value(made)]];
    };
    this.#add(
      Gauge,
      'analytics_backup_last_duration_seconds',
      'How long the last backup took that was made.',
      null,
      lastMade(({ seconds }) => seconds),
    );
    this.#add(
      Gauge,
      'analytics_backup_last_size_bytes',
      'The size of the last backup that was made.',
      null,
      lastMade(({ bytes }) => bytes),
    );
  }

  #observeIngestion(stats: () => IngestStats): void {
    this.#add(Counter, 'analytics_ingestion_events_total', 'Stored events.', null, () => [
      ['', stats().acceptedEvents],
    ]);
    this.#add(
      Counter,
      'analytics_ingestion_duplicate_batches_total',
      'Batches that were stored before.',
      null,
      () => [['', stats().duplicateBatches]],
    );
    this.#add(Counter, 'analytics_ingestion_rejected_total', 'Rejected sessions and events.', 'code', () =>
      Object.entries(stats().rejected),
    );
    this.#add(Counter, 'analytics_ingestion_refused_batches_total', 'Refused batches.', 'code', () =>
      Object.entries(stats().refused),
    );
    this.#add(Gauge, 'analytics_ingestion_waiting', 'What waits to be stored.', 'of', () =>
      Object.entries(stats().waiting),
    );
    this.#add(
      Gauge,
      'analytics_ingestion_held_batches',
      'Batches in flushes of which the store refuses a step.',
      null,
      () => [['', stats().held]],
    );
  }

  /** The text for a scraper. */
  async text(format: MetricsFormat): Promise<{ readonly contentType: string; readonly text: string }> {
    const text = await this.#registry.metrics();
    return format === 'text/plain'
      ? { contentType: prometheusContentType, text: asTextFormat(text) }
      : { contentType: this.#registry.contentType, text };
  }

  /** Adds a metric whose values are read for each scrape. */
  #add(
    Kind: typeof Gauge | typeof Counter,
    name: string,
    help: string,
    label: string | null,
    read: Read,
  ): void {
    const metric: Gauge<string> | Counter<string> = new Kind({
      name,
      help,
      labelNames: label === null ? [] : [label],
      registers: [this.#registry],
      collect: () => {
        metric.reset();
        const samples = read();
        // A reset leaves a metric without labels at 0.
        if (label === null && samples.length === 0) metric.remove();
        for (const [value, number] of samples) metric.inc(label === null ? {} : { [label]: value }, number);
      },
    });
  }

  #bounded(name: string): string {
    if (!this.#names.has(name) && this.#names.size >= MOST_NAMES) return 'other';
    this.#names.add(name);
    return name;
  }
}

type Read = () => readonly (readonly [string, number])[];
