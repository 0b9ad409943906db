import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { backupOf } from '../../src/cli/backups.ts';
import { readConfig } from '../../src/config.ts';
import { type App, question, type Running, running, SECRET, type Tenant } from '../faults/support.ts';
import type { Answer } from '../support/http.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

/** A service under some load, and the Prometheus that watches it. */
export interface Watched {
  readonly service: Running;
  readonly tenant: Tenant;
  readonly prometheus: Prometheus;
  /** Waits until the alert fires. */
  fires(alert: string): Promise<void>;
  /** Waits until no alert fires. */
  isQuiet(): Promise<void>;
  /** Makes a backup to a new folder, as the command does. */
  backUp(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** Between two requests of a loop. Some alerts need more than a few requests in their window. */
const PAUSE_MS = 100;
const SENDERS = 3;

export async function watched(settings: Readonly<Record<string, string>>): Promise<Watched> {
  const service = await running({ SEAL_INTERVAL_SECONDS: '1', ...settings });
  const tenant = await service.newTenant();
  const prometheus = await startPrometheus(service.managementUrl);
  const ending = new AbortController();
  const loops = [
    repeated(() => service.ask(question(tenant.app), { key: tenant.key }), ending.signal),
    repeated(() => service.ask('/api/v1/apps', { key: tenant.key }), ending.signal),
    // While the store is away each sender waits for some seconds.
    ...Array.from({ length: SENDERS }, () =>
      repeated(() => service.record(tenant.app, ['/a', '/b']), ending.signal),
    ),
  ];
  const eventually = { timeout: 200_000, interval: 500 };
  return {
    service,
    tenant,
    prometheus,
    fires: (alert) => expect.poll(() => prometheus.firing(), eventually).toContain(alert),
    isQuiet: () => expect.poll(() => prometheus.firing(), eventually).toEqual([]),
    backUp: async (folder) => {
      const { port } = new URL(service.managementUrl);
      await backupOf(folder, readConfig({ MANAGEMENT_JWT_SECRET: SECRET, MANAGEMENT_PORT: port }));
    },
    close: async () => {
      ending.abort();
      try {
        await service.remove();
        await Promise.all(loops);
      } finally {
        await prometheus.close();
      }
    },
  };
}

/** Repeats a request until the signal. Its failures are what the alerts are about. */
async function repeated(request: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await request().catch(() => undefined);
    await sleep(PAUSE_MS);
  }
}

const HOUR_MS = 3_600_000;
/** Of a batch: below the limits of sessions and events. */
const EVENTS_PER_SESSION = 10;

/** Sends a batch of sessions from some hours ago. */
export function recordOld(service: Running, app: App, { hours = 60, sessions = 1 } = {}): Promise<Answer> {
  const startedAt = new Date(Date.now() - hours * HOUR_MS).toISOString();
  const events = Array.from({ length: EVENTS_PER_SESSION }, () => ({
    type: 'pageview',
    timestamp: startedAt,
    path: '/old',
  }));
  const body = {
    appId: app.id,
    secretKey: app.secretKey,
    batchId: randomUUID(),
    sessions: Array.from({ length: sessions }, () => ({
      id: randomUUID(),
      visitorId: randomUUID(),
      startedAt,
      events,
    })),
  };
  return service.ask('/sdk/v1/events', { method: 'POST', body });
}
