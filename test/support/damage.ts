import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { removeFolder } from '../../src/remove-folder.ts';
import { type Running, running, type Tenant } from '../faults/support.ts';

/*
 * A store whose parts are damaged on the disk, file by file, and what the service makes of it.
 */

const HOUR = 3_600_000;

export interface Sound {
  readonly dataDir: string;
  readonly tenant: Tenant;
  /** A batch that is stored. */
  readonly batch: object;
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

/** Makes a store with rows in its tables, sealed and not. */
export async function soundStore(settings: Readonly<Record<string, string>> = {}): Promise<Sound> {
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-sound-'));
  const first = await running({ DATA_DIR: dataDir, ...settings });
  const tenant = await first.newTenant();
  const batches = [130, 100, 76, 75, 52, 51, 30, 3, 2, 1].map((hours) => batchOf(tenant, hours));
  for (const body of batches) await first.ask('/sdk/v1/events', { method: 'POST', body });
  await first.stop();
  // It seals at its start.
  const second = await running({ DATA_DIR: dataDir, ...settings });
  const other = z
    .object({ accountId: z.string() })
    .parse(await second.admin('account', 'create', '--name', 'B', '--plan', 'pro'));
  await second.admin('app', 'share', '--app', tenant.app.id, '--account', other.accountId);
  for (let isSealed = false; !isSealed; await sleep(200)) {
    const { apps } = z
      .object({ apps: z.array(z.record(z.string(), z.unknown())) })
      .parse(await second.admin('seal', 'status'));
    isSealed = JSON.stringify(apps).split('"lagSeconds":0').length > 2;
  }
  const sound = { dataDir, tenant, batch: batches[4] as object };
  const answers = await answersOf(second, sound);
  await second.stop();
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
  { tenant, batch }: Pick<Sound, 'tenant' | 'batch'>,
): Promise<string> {
  const found: unknown[] = [];
  const asked = async (path: string, ask: object): Promise<void> => {
    const { status, json } = await service.ask(path, ask);
    if (status >= 500 || status === 404) throw new RefusedAnswer(`${path}: ${status}`);
    found.push([path, status, json]);
  };
  const hour = Math.floor(Date.now() / HOUR) * HOUR;
  for (const question of QUESTIONS) {
    for (const days of [6, 3, 1]) {
      const [from, to] = [hour - days * 24 * HOUR, hour].map((ms) => new Date(ms).toISOString());
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

/** The files of all parts of the service's tables. */
export function partFiles(dataDir: string): PartFile[] {
  const store = join(dataDir, 'clickhouse', 'store');
  const files = readdirSync(store, { recursive: true, encoding: 'utf8' });
  const names = new Map<string, string>();
  for (const file of files.filter((name) => name.endsWith('.sql'))) {
    const [, id] =
      /^ATTACH TABLE _ UUID '([0-9a-f-]{36})'/.exec(readFileSync(join(store, file), 'utf8')) ?? [];
    if (id !== undefined) names.set(id, file.replace(/^.*\/|\.sql$/g, ''));
  }
  return files.flatMap((file) => {
    const [, id = '', name = ''] = /^[^/]+\/([^/]+)\/[0-9a-z]+(?:_\d+){3,4}\/([^/]+)$/.exec(file) ?? [];
    const table = names.get(id);
    return table === undefined ? [] : [{ table, path: join('clickhouse', 'store', file), name }];
  });
}

export interface Outcome {
  readonly kind: 'right' | 'refused' | 'rebuilt' | 'wrong';
  readonly what: string;
}

/** Damages a copy of the store, and tells what the service does with it. */
export async function outcomeOf(sound: Sound, file: PartFile, way: string): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-damaged-'));
  let service: Running | undefined;
  try {
    cpSync(sound.dataDir, dataDir, { recursive: true });
    const path = join(dataDir, file.path);
    WAYS[way]?.(path, readFileSync(path));
    service = await running({ DATA_DIR: dataDir });
    const { status, text } = await service.ask('/readyz');
    if (status === 503) {
      const isNamed =
        text.includes(file.table) && /broken-on-start_\S+/.test(text) && /accept|restore/.test(text);
      return { kind: isNamed ? 'refused' : 'wrong', what: text };
    }
    const found = await answersOf(service, sound);
    if (found !== sound.answers) return { kind: 'wrong', what: difference(sound.answers, found) };
    return { kind: /computed again what was lost/.test(service.output()) ? 'rebuilt' : 'right', what: '' };
  } catch (error) {
    const message = (error as Error).message;
    if (error instanceof RefusedAnswer) return { kind: 'refused', what: message };
    const isSaid = /Cannot open the store|503|500/.test(message);
    return { kind: isSaid ? 'refused' : 'wrong', what: message };
  } finally {
    await service?.kill();
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
