import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { managementClient } from '../../src/cli/management-client.ts';
import { wallClock } from '../../src/cli/wall-clock.ts';
import { readConfig } from '../../src/config.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { type Running, running, SECRET, type Tenant } from '../faults/support.ts';
import { bridgeProcess } from './bridge-process.ts';
import { filesBelow, pathsBelow } from './files.ts';
import { localRedis } from './redis.ts';

/*
 * A store whose parts are damaged on the disk, file by file, and what the service makes of it.
 */

const HOUR = 3_600_000;

/** Where a store is. */
export interface Place {
  /** Opens the store in a folder. Returns the service's settings. */
  open(folder: string): Promise<{
    readonly settings: Readonly<Record<string, string>>;
    /** The service has ended. */
    close(): Promise<void>;
  }>;
  /** Ends what all stores have in common. */
  end(): Promise<void>;
}

export const EMBEDDED: Place = {
  open: async (folder) => ({ settings: { DATA_DIR: folder }, close: async () => undefined }),
  end: async () => undefined,
};

/**
 * A server, which is not the service's: it does not compare the small files of parts before it opens them. `cluster`: the name
 * of a cluster of two shards; none by default.
 */
export async function onServer(cluster = ''): Promise<Place> {
  const redis = await localRedis();
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-of-server-'));
  return {
    open: async (folder) => {
      // No answer of another store.
      await redis.flush();
      const bridge = await bridgeProcess(0, cluster, '', folder);
      const settings = { ...bridge.settings, REDIS_URL: redis.url, DATA_DIR: dataDir };
      return { settings, close: bridge.stop };
    },
    end: async () => {
      await redis.close();
      removeFolder(dataDir);
    },
  };
}

/** A service on a store. */
interface Opened extends Running {
  /** Ends both as they are ended usually. */
  end(): Promise<void>;
  /** Kills the service. */
  abort(): Promise<void>;
}

async function opened({ open }: Place, folder: string): Promise<Opened> {
  const { settings, close } = await open(folder);
  try {
    const service = await running(settings);
    const end = async (): Promise<void> => {
      await service.stop();
      await close();
    };
    const abort = async (): Promise<void> => {
      await service.kill();
      await close();
    };
    return { ...service, end, abort };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface Sound {
  readonly place: Place;
  readonly dataDir: string;
  readonly tenant: Tenant;
  /** A batch that is stored. */
  readonly batch: object;
  /** The beginning of the hour of `answers`, in ms: a try may come in the next one. */
  readonly hour: number;
  /** What a whole store answers. */
  readonly answers: string;
  remove(): void;
}

/** Damages a file. */
export const WAYS: Readonly<Record<string, (path: string, bytes: Buffer) => void>> = {
  deleted: (path) => rmSync(path),
  truncated: (path, bytes) => truncateSync(path, bytes.length >> 1),
  zeroed: (path, bytes) => writeFileSync(path, Buffer.alloc(bytes.length)),
  flipped: (path, bytes) => {
    // An empty part has empty files.
    if (bytes.length === 0) return writeFileSync(path, '\0');
    const changed = Buffer.from(bytes);
    const at = Math.floor(Math.random() * bytes.length);
    changed.writeUInt8(changed.readUInt8(at) ^ (1 << Math.floor(Math.random() * 8)), at);
    writeFileSync(path, changed);
  },
};

function batchOf({ app }: Tenant, hours: number): object {
  const startedAt = new Date(Date.now() - hours * HOUR).toISOString();
  const paths = ['/a', '/b', `/${hours}`];
  const events = paths.map((path) => ({ type: 'pageview', timestamp: startedAt, path }));
  const visitorId = `visitor-${hours % 3}`;
  const context = { utm: { source: 'news', medium: 'email' }, location: { country: 'IR', city: 'Tehran' } };
  const session = { id: randomUUID(), visitorId, startedAt, context, events };
  return { appId: app.id, secretKey: app.secretKey, batchId: randomUUID(), sessions: [session] };
}

/** Resolves when all apps are sealed up to now. */
async function sealed(service: Running): Promise<void> {
  const Lag = z.object({ lagSeconds: z.record(z.string(), z.number()) });
  const isBehind = async (): Promise<boolean> => {
    const { lagSeconds } = Lag.parse(await service.admin('seal', 'status'));
    return ['page', 'session'].some((kind) => lagSeconds[kind] !== 0);
  };
  while (await isBehind()) await sleep(200);
}

/** Imports a session from the first hour of all, of which Tehran's hour begins before 1970. */
async function importFirstHour(service: Running, { app }: Tenant): Promise<void> {
  const env = { MANAGEMENT_PORT: new URL(service.managementUrl).port, MANAGEMENT_JWT_SECRET: SECRET };
  const at = '1970-01-01T00:10:00.000Z';
  const events = [{ type: 'pageview', timestamp: at, path: '/first' }];
  const session = { id: 'first', visitorId: 'visitor-first', startedAt: at, events };
  await managementClient(readConfig(env), wallClock).call('POST', `/apps/${app.id}/import`, {
    sessions: [session],
  });
}

/** Makes a store with rows in its tables, sealed and not. Some are late, and some of an account that was deleted. */
export async function soundStore(place = EMBEDDED): Promise<Sound> {
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-sound-'));
  const first = await opened(place, dataDir);
  const tenant = await first.newTenant();
  const doomed = await first.newTenant();
  const send = (service: Running, body: object) => service.ask('/sdk/v1/events', { method: 'POST', body });
  const batches = [130, 100, 76, 75, 52, 51, 30, 3, 2, 1].map((hours) => batchOf(tenant, hours));
  for (const body of batches) await send(first, body);
  for (const hours of [100, 2]) await send(first, batchOf(doomed, hours));
  await importFirstHour(first, tenant);
  await first.end();
  // It seals at its start.
  const second = await opened(place, dataDir);
  const other = z
    .object({ accountId: z.string() })
    .parse(await second.admin('account', 'create', '--name', 'B', '--plan', 'pro'));
  await second.admin('app', 'share', '--app', tenant.app.id, '--account', other.accountId);
  await sealed(second);
  await second.admin('account', 'delete', '--account', doomed.account, '--yes');
  for (const hours of [131, 100, 51]) await send(second, batchOf(tenant, hours));
  await second.end();
  const third = await opened(place, dataDir);
  await sealed(third);
  const hour = Math.floor(Date.now() / HOUR) * HOUR;
  const sound = { place, dataDir, tenant, batch: batches[4] as object, hour };
  const answers = await answersOf(third, sound);
  await third.end();
  return { ...sound, answers, remove: () => removeFolder(dataDir) };
}

const QUESTIONS = [
  'sessions/overview/kpis',
  'sessions/overview/extended',
  'sessions/pageviews',
  'sessions/timespent',
  'sessions/user-growth',
  'sessions/traffic-heatmap',
  'sessions/locations/all',
  'growth/utm',
];

/** What the store answers, as text; null if it refuses anything. */
export async function answersOf(
  service: Running,
  { tenant, batch, hour }: Pick<Sound, 'tenant' | 'batch' | 'hour'>,
): Promise<string> {
  const found: unknown[] = [];
  const asked = async (path: string, ask: object): Promise<void> => {
    const { status, json } = await service.ask(path, ask);
    if (status >= 500 || status === 404) throw new RefusedAnswer(`${path}: ${status}`);
    found.push([path, status, json]);
  };
  const ranges = [[0, 24 * HOUR], ...[6, 3, 1].map((days) => [hour - days * 24 * HOUR, hour])];
  for (const question of QUESTIONS) {
    for (const range of ranges) {
      const [from, to] = range.map((ms) => new Date(ms).toISOString());
      await asked(`/api/v1/${question}?appId=${tenant.app.id}&from=${from}&to=${to}`, { key: tenant.key });
    }
  }
  await asked('/api/v1/apps', { key: tenant.key });
  await asked('/sdk/v1/events', { method: 'POST', body: batch });
  for (const command of [
    ['account', 'list'],
    ['share', 'list'],
    ['app', 'list'],
  ])
    found.push(await service.admin(...(command as [string, ...string[]])));
  return JSON.stringify(found, null, 1);
}

export class RefusedAnswer extends Error {}

export interface PartFile {
  readonly table: string;
  /** Below the data folder. */
  readonly path: string;
  readonly name: string;
}

/** The engine's folder of parts. The service's data folder has it below another one. */
const storeIn = (dataDir: string): string =>
  existsSync(join(dataDir, 'clickhouse')) ? join('clickhouse', 'store') : 'store';

/** The files of all parts of the service's tables. */
export function partFiles(dataDir: string): PartFile[] {
  const store = join(dataDir, storeIn(dataDir));
  const files = filesBelow(store);
  const names = new Map<string, string>();
  for (const file of files.filter((name) => name.endsWith('.sql'))) {
    const [, id] =
      /^ATTACH TABLE _ UUID '([0-9a-f-]{36})'/.exec(readFileSync(join(store, file), 'utf8')) ?? [];
    if (id !== undefined) names.set(id, file.replace(/^.*\/|\.sql$/g, ''));
  }
  return files.flatMap((file) => {
    const [, id = '', name = ''] = /^[^/]+\/([^/]+)\/[0-9a-z]+(?:_\d+){3,4}\/([^/]+)$/.exec(file) ?? [];
    const table = names.get(id);
    return table === undefined ? [] : [{ table, path: join(storeIn(dataDir), file), name }];
  });
}

export interface Outcome {
  readonly kind: 'right' | 'refused' | 'rebuilt' | 'wrong';
  readonly what: string;
  /** Parts that the engine took out of their tables, if the service answers. */
  readonly detached?: readonly string[];
}

/** The parts in `detached`. */
function detachedParts(dataDir: string): string[] {
  const store = join(dataDir, storeIn(dataDir));
  return pathsBelow(store).filter((path) => /\/detached\/[^/]+$/.test(path));
}

/** Damages a copy of the store, and tells what the service does with it. Another `way` than those of `WAYS` damages nothing. */
export async function outcomeOf(sound: Sound, file: PartFile, way: string): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-damaged-'));
  let service: Opened | undefined;
  try {
    cpSync(sound.dataDir, dataDir, { recursive: true });
    const path = join(dataDir, file.path);
    WAYS[way]?.(path, readFileSync(path));
    service = await opened(sound.place, dataDir);
    const { status, text } = await service.ask('/readyz');
    if (status === 503) {
      const isNamed =
        text.includes(file.table) && /broken-on-start_\S+/.test(text) && /accept|restore|runbook/.test(text);
      return { kind: isNamed ? 'refused' : 'wrong', what: text };
    }
    const found = await answersOf(service, sound);
    if (found !== sound.answers) return { kind: 'wrong', what: difference(sound.answers, found) };
    const kind = /computed again what was lost/.test(service.output()) ? 'rebuilt' : 'right';
    // The engine must not remove folders while they are listed.
    await service.abort();
    return { kind, what: '', detached: detachedParts(dataDir) };
  } catch (error) {
    const message = (error as Error).message;
    if (error instanceof RefusedAnswer) return { kind: 'refused', what: message };
    const isSaid = /Cannot open the store|503|500/.test(message);
    return { kind: isSaid ? 'refused' : 'wrong', what: message };
  } finally {
    await service?.abort();
    removeFolder(dataDir);
  }
}

function difference(expected: string, found: string): string {
  const lines = found.split('\n');
  return expected
    .split('\n')
    .flatMap((line, i) => (line === lines[i] ? [] : [`${line.trim()} -> ${(lines[i] ?? '').trim()}`]))
    .slice(0, 5)
    .join('; ');
}
