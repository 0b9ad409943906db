import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Problem } from '../../src/http/request/problem.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { send } from '../support/http.ts';
import { freePort } from '../support/redis.ts';

/* docker-compose.yml, as it is. Needs a Docker engine with Compose; builds the image if there is none. */

const MINUTES = 60_000;
const PROJECT = `analytics-test-${process.pid}`;
const SECRETS = ['clickhouse_password', 'redis_password', 'management_jwt_secret'].map((name) => ({
  name,
  // Characters that shells, URLs and configuration files take for something else.
  value: `${randomBytes(16).toString('hex')}@:/%41#&`,
}));

let folder: string;
let url: string;
let environment: NodeJS.ProcessEnv;

const run = promisify(execFile);
async function compose(...args: string[]): Promise<string> {
  const { stdout } = await run('docker', ['compose', '--project-name', PROJECT, ...args], {
    env: environment,
    maxBuffer: 256 * 1024 ** 2,
  });
  return stdout;
}
const inside = async <T>(...args: string[]): Promise<T> =>
  JSON.parse(await compose('exec', '-T', 'api-1', 'session-analytics', ...args)) as T;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-compose-'));
  for (const { name, value } of SECRETS) writeFileSync(join(folder, name), `${value}\n`, { mode: 0o644 });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  environment = {
    ...process.env,
    PORT: String(port),
    SECRETS_DIR: folder,
    PUBLIC_API_REQUESTS_PER_MINUTE: '1000000',
  };
  await compose('up', '--detach', '--wait');
}, 20 * MINUTES);
afterAll(async () => {
  await compose('down', '--volumes');
  removeFolder(folder);
  expect(await compose('ps', '--all', '--quiet')).toBe('');
}, 5 * MINUTES);

interface Site {
  readonly key: string;
  readonly app: { readonly id: string; readonly secretKey: string };
}

async function newSite(): Promise<Site> {
  const { accountId } = await inside<{ accountId: string }>('admin', 'account', 'create', '--name', 'Acme');
  const { apiKey: key } = await inside<{ apiKey: string }>('admin', 'key', 'create', '--account', accountId);
  const made = await fetch(`${url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Site', domain: 'https://site.example' }),
  });
  expect(made.status).toBe(201);
  return { key, app: (await made.json()) as Site['app'] };
}

/** Sends one batch until it is acknowledged. Resolves to the number of its pageviews. */
async function delivered({ app }: Site): Promise<number> {
  const now = new Date().toISOString();
  const views = ['/', '/pricing'].map((path) => ({ type: 'pageview', timestamp: now, path }));
  const body = JSON.stringify({
    appId: app.id,
    secretKey: app.secretKey,
    batchId: randomUUID(),
    sessions: [{ id: randomUUID(), visitorId: 'v', startedAt: now, context: {}, events: views }],
  });
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  };
  for (;;) {
    const status = await fetch(`${url}/sdk/v1/events`, { method: 'POST', headers, body }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    if (status === 200) return views.length;
    if (![0, 502, 503].includes(status)) throw new Error(`a batch got ${status}`);
    await sleep(100);
  }
}

const viewsOf = ({ app }: Site): string => `${url}/api/v1/sessions/pageviews?appId=${app.id}`;

/** Asks once, as a poller. Returns what went wrong, if anything but a 503 that says when to come back did. */
async function polled(site: Site, counts: Record<string, number>): Promise<string | null> {
  try {
    const response = await fetch(viewsOf(site), { headers: { Authorization: `Bearer ${site.key}` } });
    const text = await response.text();
    counts[response.status] = (counts[response.status] ?? 0) + 1;
    if (response.status === 200) return null;
    const says = /^[1-9]\d*$/.test(response.headers.get('retry-after') ?? '');
    return response.status === 503 && says ? null : `${response.status}: ${text}`;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  }
}

test(
  'a rolling restart under load loses no acknowledged batch, and pollers see no error but 503 with Retry-After',
  async () => {
    const site = await newSite();
    const counts: Record<string, number> = {};
    const failures: string[] = [];
    let acknowledged = 0;
    let isOver = false;
    const load = [
      ...Array.from({ length: 4 }, async () => {
        while (!isOver) {
          const views = await delivered(site);
          acknowledged += views;
        }
      }),
      ...Array.from({ length: 4 }, async () => {
        while (!isOver) {
          const failure = await polled(site, counts);
          if (failure !== null) failures.push(failure);
        }
      }),
    ];
    for (const api of ['api-1', 'api-2']) {
      await sleep(2_000);
      await compose('up', '--detach', '--no-deps', '--force-recreate', '--wait', api);
    }
    await sleep(2_000);
    isOver = true;
    await Promise.all(load);
    expect(failures).toEqual([]);
    expect(counts[200]).toBeGreaterThan(20);
    const headers = { Authorization: `Bearer ${site.key}` };
    const pages = (await (await fetch(viewsOf(site), { headers })).json()) as { views: number }[];
    expect(pages.reduce((sum, { views }) => sum + views, 0)).toBe(acknowledged);
    expect(acknowledged).toBeGreaterThan(20);
    process.stdout.write(`answers ${JSON.stringify(counts)}, pageviews acknowledged ${acknowledged}\n`);
  },
  10 * MINUTES,
);

test(
  'a log is imported inside, by standard input',
  async () => {
    const { app } = await newSite();
    const name = [
      'compose',
      '--project-name',
      PROJECT,
      'exec',
      '-T',
      'api-2',
      'session-analytics',
      'import',
      '-',
    ];
    const importing = run('docker', [...name, '--app', app.id], { env: environment });
    importing.child.stdin?.end(readFileSync('test/data/access-excerpt.log'));
    expect(JSON.parse((await importing).stdout)).toMatchObject({ lines: 300, sessions: 34, events: 47 });
  },
  MINUTES,
);

test(
  'while no process is ready, the proxy says when to come back',
  async () => {
    await compose('stop', 'api-1', 'api-2');
    const { status, headers, json } = await send(url, '/readyz', {});
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([
      503,
      '1',
      'application/problem+json',
    ]);
    const problem = Problem.parse(json);
    expect(problem).toMatchObject({ status: 503, code: 'overloaded', requestId: headers['x-request-id'] });
    await compose('up', '--detach', '--wait');
    await expect.poll(async () => (await send(url, '/readyz', {})).status, { timeout: MINUTES }).toBe(200);
  },
  5 * MINUTES,
);

test('no log line and no variable holds a secret', async () => {
  const logs = await compose('logs', '--no-color');
  const ids = (await compose('ps', '--quiet')).trim().split('\n');
  const { stdout: variables } = await run('docker', ['inspect', '--format', '{{json .Config}}', ...ids]);
  expect(logs).toContain('"msg":"listening"');
  for (const { value } of SECRETS) {
    for (const text of [value, encodeURIComponent(value)]) {
      expect(logs.includes(text)).toBe(false);
      expect(variables.includes(text)).toBe(false);
    }
  }
});
