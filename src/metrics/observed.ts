import type { Backup } from '../backup/backups.ts';
import type { SealingHealth } from '../facts/sealer.ts';
import type { IngestStats } from '../ingestion/ingestion.ts';
import type { RedisState } from '../redis/link.ts';
import type { Measured } from './measured.ts';
import { engineThreads, processThreads } from './threads.ts';

/* The metrics that nobody counts: each scrape reads them from the parts of the service. */

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

export interface DamageSource {
  readonly parts: readonly unknown[];
  readonly rebuilds: number;
}

/** Adds a metric whose values are read for each scrape, by the values of its label, or one value of `''` without a label. */
export type AddRead = (
  kind: 'gauge' | 'counter',
  name: string,
  help: string,
  label: string | null,
  read: () => readonly (readonly [string, number])[],
) => void;

/** Adds the metrics that are read from the parts of the service. */
export function observeService(add: AddRead, sources: MetricSources): void {
  observeIngestion(add, sources.ingestion);
  add('gauge', 'analytics_sealing_lag_seconds', 'The lag of the app that is furthest behind.', 'kind', () =>
    Object.entries(sources.sealing().lagSeconds),
  );
  observeMeasured(add, sources.measured);
  observeBackups(add, sources.measured);
  add('gauge', 'analytics_redis_up', '1 if Redis answers, 0 if not; absent without Redis.', null, () => {
    const state = sources.redisState();
    return state === null ? [] : [['', Number(state === 'up')]];
  });
  add('gauge', 'analytics_store_waiting', 'Callers that wait for a place at the store.', 'lane', () =>
    Object.entries(sources.waiting()),
  );
  add('gauge', 'analytics_streams_open', 'Open event streams.', null, () => [['', sources.streams().open]]);
  add('counter', 'analytics_stream_answers_total', 'Answers sent on event streams.', null, () => [
    ['', sources.streams().answers],
  ]);
  add(
    'gauge',
    'analytics_process_threads',
    'Threads of the process, with those of the engine.',
    null,
    processThreads,
  );
  add(
    'gauge',
    'analytics_engine_threads',
    'Threads of the embedded engine; 0 with a server.',
    null,
    engineThreads,
  );
}

/** Adds the state of the store's parts. */
export function observeDamage(add: AddRead, damage: DamageSource): void {
  add('gauge', 'analytics_damaged_parts', 'Damaged parts of the store: nothing is answered.', null, () => [
    ['', damage.parts.length],
  ]);
  add(
    'counter',
    'analytics_damage_rebuilds_total',
    'How often facts or counts were computed again because their parts were damaged.',
    null,
    () => [['', damage.rebuilds]],
  );
}

function observeMeasured(add: AddRead, measured: () => Measured): void {
  add(
    'gauge',
    'analytics_engine_memory_bytes',
    'Memory of the embedded engine: allocated by it, and held for it.',
    'state',
    () => measured().engineMemory,
  );
  add(
    'gauge',
    'analytics_sealing_late_events',
    'Events that arrived after their hour was sealed and wait for a repair.',
    'kind',
    () => measured().lateEvents,
  );
  add('gauge', 'analytics_disk_free_bytes', 'Free space of a disk.', 'disk', () =>
    measured().disks.map(({ disk, free }) => [disk, free]),
  );
  add('gauge', 'analytics_disk_size_bytes', 'Size of a disk.', 'disk', () =>
    measured().disks.map(({ disk, size }) => [disk, size]),
  );
}

/** Absent until a backup was made, by any process. */
function observeBackups(add: AddRead, measured: () => Measured): void {
  const ended = (backup: Backup | null): number =>
    backup === null ? 0 : Date.parse(backup.madeAt) / 1_000 + backup.seconds;
  add(
    'gauge',
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
  add(
    'gauge',
    'analytics_backup_last_duration_seconds',
    'How long the last backup took that was made.',
    null,
    lastMade(({ seconds }) => seconds),
  );
  add(
    'gauge',
    'analytics_backup_last_size_bytes',
    'The size of the last backup that was made.',
    null,
    lastMade(({ bytes }) => bytes),
  );
}

function observeIngestion(add: AddRead, stats: () => IngestStats): void {
  add('counter', 'analytics_ingestion_events_total', 'Stored events.', null, () => [
    ['', stats().acceptedEvents],
  ]);
  add(
    'counter',
    'analytics_ingestion_duplicate_batches_total',
    'Batches that were stored before.',
    null,
    () => [['', stats().duplicateBatches]],
  );
  add('counter', 'analytics_ingestion_rejected_total', 'Rejected sessions and events.', 'code', () =>
    Object.entries(stats().rejected),
  );
  add('counter', 'analytics_ingestion_refused_batches_total', 'Refused batches.', 'code', () =>
    Object.entries(stats().refused),
  );
  add('gauge', 'analytics_ingestion_waiting', 'What waits to be stored.', 'of', () =>
    Object.entries(stats().waiting),
  );
  add(
    'gauge',
    'analytics_ingestion_held_batches',
    'Batches in flushes of which the store refuses a step.',
    null,
    () => [['', stats().held]],
  );
}
