import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  openMetricsContentType,
  prometheusContentType,
  Registry,
} from 'prom-client';
import type { StatementStats } from '../clickhouse/database.ts';
import type { AnswerSource } from '../http/answer/answers.ts';
import type { Served } from '../http/server/request-log.ts';
import type { StoredFlush } from '../ingestion/flusher.ts';
import { VERSION } from '../version.ts';
import {
  type AddRead,
  type DamageSource,
  type MetricSources,
  observeDamage,
  observeService,
} from './observed.ts';
import { asTextFormat } from './text-format.ts';

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
    observeService(this.#add, sources);
  }

  /** Adds the state of the store's parts. */
  observeDamage(damage: DamageSource): void {
    observeDamage(this.#add, damage);
  }

  /** The text for a scraper. */
  async text(format: MetricsFormat): Promise<{ readonly contentType: string; readonly text: string }> {
    const text = await this.#registry.metrics();
    return format === 'text/plain'
      ? { contentType: prometheusContentType, text: asTextFormat(text) }
      : { contentType: this.#registry.contentType, text };
  }

  readonly #add: AddRead = (kind, name, help, label, read) => {
    const Kind = kind === 'gauge' ? Gauge : Counter;
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
  };

  #bounded(name: string): string {
    if (!this.#names.has(name) && this.#names.size >= MOST_NAMES) return 'other';
    this.#names.add(name);
    return name;
  }
}
