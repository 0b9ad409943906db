import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { removeFolder } from '../../src/remove-folder.ts';
import { writeAccessLog } from '../support/access-lines.ts';
import { byChance } from '../support/chance.ts';
import { withinHalfHour } from '../support/half-hour.ts';
import { program } from '../support/program.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';

/** More lines with IMPORT_LINES. */
const LINES = Number(process.env['IMPORT_LINES'] ?? 60_000);
const DEATHS = 5;
/** The requests of the import, at least: 4 MiB are about 13,000 lines. */
const CHUNKS = Math.floor(LINES / 15_000);
const DAY = 86_400_000;
const END = Math.floor(Date.now() / DAY) * DAY - 2 * DAY;
const MIDDLE = END - 14 * DAY;
const BEGIN = END - 30 * DAY;

let folder: string;
let service: ServiceProcess;
let files: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-import-killed-'));
  service = await start();
  files = [join(folder, 'access.log'), join(folder, 'access.log.1.gz')];
  const [newer = '', older = ''] = files;
  const half = { lines: LINES / 2, seed: 1 };
  await writeAccessLog(older, { ...half, begin: BEGIN, end: MIDDLE });
  await writeAccessLog(newer, { ...half, begin: MIDDLE, end: END, seed: 2 });
});
afterAll(async () => {
  await service.kill();
  removeFolder(folder);
});

const start = (settings: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> =>
  serviceProcess({ DATA_DIR: join(folder, 'data'), PUBLIC_API_REQUESTS_PER_MINUTE: '100000', ...settings });

/** Kills the service and starts it again at the same address. */
async function killService(): Promise<void> {
  const { port } = new URL(service.managementUrl);
  await service.kill();
  service = await start({ MANAGEMENT_PORT: port });
}

interface Site {
  readonly app: string;
  readonly apiKey: string;
}

async function newSite(): Promise<Site> {
  const account = await service.admin('account', 'create', '--name', 'Acme');
  const { accountId } = z.object({ accountId: z.string() }).parse(account);
  const key = await service.admin('key', 'create', '--account', accountId);
  const { apiKey } = z.object({ apiKey: z.string() }).parse(key);
  const response = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Shop', domain: 'https://shop.example' }),
  });
  const { id } = z.object({ id: z.string() }).parse(await response.json());
  return { app: id, apiKey };
}

interface Import {
  readonly child: ChildProcess;
  /** Resolves to the exit code, the summary and all that was said. */
  readonly ended: Promise<{ code: unknown; summary: unknown; said: string }>;
  /** The number of chunks that are acknowledged. */
  chunks(): number;
}

async function startImport({ app }: Site, state: string): Promise<Import> {
  const child = spawn(await program(), ['import', ...files, '--app', app, '--state', state], {
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: join(folder, 'data'),
      MANAGEMENT_PORT: new URL(service.managementUrl).port,
    },
  });
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const [printed, said] = [text(child.stdout), text(child.stderr)];
  const ended = once(child, 'close').then(async ([code]) => {
    process.off('exit', killAtExit);
    const summary = await printed;
    return { code, summary: summary === '' ? null : JSON.parse(summary), said: await said };
  });
  return { child, ended, chunks: () => chunksIn(state) };
}

function chunksIn(state: string): number {
  try {
    const [name = ''] = readdirSync(state);
    return JSON.parse(readFileSync(join(state, name, 'state.json'), 'utf8')).sent.chunks;
  } catch {
    return 0;
  }
}

/** Waits for so many chunks, or for the end. */
const until = ({ child, chunks }: Import, enough: number) =>
  expect
    .poll(() => child.exitCode !== null || chunks() >= enough, { timeout: 1_800_000, interval: 20 })
    .toBe(true);

const RANGES: readonly Readonly<Record<string, string>>[] = [
  {},
  { from: new Date(BEGIN).toISOString(), to: new Date(END).toISOString() },
  { from: new Date(MIDDLE - 1_234_567).toISOString(), to: new Date(MIDDLE + 7_654_321).toISOString() },
];
const ENDPOINTS = [
  'sessions/data-bounds',
  'sessions/overview/extended',
  'sessions/overview/kpis',
  'sessions/pageviews',
  'sessions/timespent',
  'sessions/user-growth',
  'sessions/traffic-heatmap',
  'sessions/traffic-audience-activity',
  'sessions/locations/all',
  'growth/utm',
];

/** The answers of every endpoint. */
async function figures({ app, apiKey }: Site): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const path of ENDPOINTS) {
    for (const [i, range] of (path === 'sessions/data-bounds' ? [{}] : RANGES).entries()) {
      const url = `${service.url}/api/v1/${path}?${new URLSearchParams({ appId: app, ...range })}`;
      const response = await fetch(url, { headers: { Authorization: `Bearer ${apiKey}` } });
      answers[`${path} ${i}`] = await response.json();
      expect(response.status, JSON.stringify(answers[`${path} ${i}`])).toBe(200);
    }
  }
  return answers;
}

test(`${LINES} lines imported while the service is killed ${DEATHS} times give the figures of a quiet run`, {
  timeout: 7_200_000,
}, async () => {
  const [quiet, killed, interrupted] = [await newSite(), await newSite(), await newSite()];

  const calm = await (await startImport(quiet, join(folder, 'quiet'))).ended;
  expect(calm).toMatchObject({
    code: 0,
    summary: { lines: LINES, skipped: { malformed: 0 } },
  });

  const importing = await startImport(killed, join(folder, 'killed'));
  for (let death = 1; death <= DEATHS; death++) {
    // All deaths are in the first third: on a fast machine the rest is delivered in a moment.
    await until(importing, Math.max(1, Math.floor((CHUNKS * death) / (3 * DEATHS))));
    await sleep(byChance(30));
    // The import may end while the service starts again, so this is asked before.
    expect(importing.child.exitCode).toBeNull();
    await killService();
  }
  const survived = await importing.ended;
  const { events, sessions, duplicates, ...same } = z
    .object({ events: z.number(), sessions: z.number(), duplicates: z.number() })
    .loose()
    .parse(calm.summary);
  expect(survived).toMatchObject({ code: 0, summary: { lines: LINES, skipped: same['skipped'] } });
  // Events whose acknowledgement was lost or late count as duplicates.
  const totals = z.object({ events: z.number(), duplicates: z.number() }).parse(survived.summary);
  expect(totals.events + totals.duplicates).toBe(events + duplicates);
  const expectSame = (site: Site) =>
    withinHalfHour(async () => expect(await figures(site)).toEqual(await figures(quiet)));
  await expectSame(killed);

  // The import itself is killed, and goes on.
  const state = join(folder, 'interrupted');
  const first = await startImport(interrupted, state);
  await until(first, 2);
  first.child.kill('SIGKILL');
  await first.ended;
  const delivered = chunksIn(state);
  const second = await (await startImport(interrupted, state)).ended;
  expect(delivered).toBeGreaterThanOrEqual(2);
  expect(second.said).toContain('Goes on where it was interrupted');
  expect(second.code).toBe(0);
  await expectSame(interrupted);
  expect(sessions).toBeGreaterThan(0);
  expect(readdirSync(state)).toEqual([]);
});
