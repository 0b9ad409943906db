import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { removeFolder } from '../../../src/remove-folder.ts';
import { type CommandResult, type ManagedService, managedService } from '../../support/management.ts';
import { PROGRAM } from '../../support/program.ts';

const EXCERPT = readFileSync(new URL('../../data/access-excerpt.log', import.meta.url));
const SUMMARY = {
  lines: 300,
  sessions: 34,
  events: 47,
  skipped: { assets: 153, errors: 2, methods: 0, bots: 98, malformed: 0 },
  duplicates: 0,
};

let service: ManagedService;
let folder: string;
let accountKey: string;

beforeAll(async () => {
  service = await managedService();
  folder = mkdtempSync(join(tmpdir(), 'analytics-import-command-'));
  const { accountId } = JSON.parse((await service.admin(['account', 'create', '--name', 'Acme'])).stdout);
  await service.admin(['account', 'set-plan', '--account', accountId, '--plan', 'pro']);
  accountKey = JSON.parse((await service.admin(['key', 'create', '--account', accountId])).stdout).apiKey;
});
afterAll(async () => {
  await service.close();
  removeFolder(folder);
});

async function newApp(name: string): Promise<string> {
  const response = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${accountKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, domain: `https://${name}.example` }),
  });
  return z.object({ id: z.string() }).parse(await response.json()).id;
}

/** Runs the command as a shell does. `input` is its standard input. */
async function command(args: readonly string[], input: Buffer | string = ''): Promise<CommandResult> {
  const child = spawn(PROGRAM, ['import', ...args], {
    env: {
      PATH: process.env['PATH'],
      MANAGEMENT_PORT: new URL(service.managementUrl).port,
      DATA_DIR: service.dataDir,
    },
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, 'close');
  return { code: Number(code), stdout: await stdout, stderr: await stderr };
}

test('a gzipped log is imported from standard input, once', async () => {
  const app = await newApp('piped');
  const first = await command(['-', '--app', app], gzipSync(EXCERPT));
  expect(first.code).toBe(0);
  expect(JSON.parse(first.stdout)).toEqual(SUMMARY);
  // Lines about the progress come before it if the import takes 10 s.
  expect(first.stderr).toMatch(/(^|\n)300 lines read, 47 events stored, 0 were stored already\.\n$/);
  const again = await command(['-', '--app', app], EXCERPT);
  expect(JSON.parse(again.stdout)).toEqual({ ...SUMMARY, sessions: 0, events: 0, duplicates: 47 });
});

test('a domain names the app, a pattern several files, and their state goes to the data folder and away', async () => {
  await newApp('patterns');
  const lines = EXCERPT.toString().split('\n');
  writeFileSync(join(folder, 'access.log'), lines.slice(150).join('\n'));
  writeFileSync(join(folder, 'access.log.1.gz'), gzipSync(lines.slice(0, 150).join('\n')));
  const { code, stdout } = await command([join(folder, 'access.log*'), '--app', 'patterns.example']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(SUMMARY);
});

test('nothing but malformed lines: exit code 1, the summary, and samples', async () => {
  const file = join(folder, 'photo.jpg');
  writeFileSync(file, 'neither\nnor\n');
  const { code, stdout, stderr } = await command([file, '--app', await newApp('malformed')]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ lines: 2, events: 0, skipped: { malformed: 2 } });
  expect(stderr).toContain(`malformed: ${file}, line 1: it is in none of the known formats: neither\n`);
  expect(stderr).toMatch(
    /Nothing was imported: no line of .*photo\.jpg can be read\. Line 1: it is in none .*\n$/,
  );
});

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const logLine = (time: string, path: string, client = '198.51.100.1'): string =>
  `${client} - - [${time} +0000] "GET ${path} HTTP/1.1" 200 5 "-" "${AGENT}"\n`;

async function counted(app: string): Promise<{ sessions: number; visitors: number; pageviews: number }> {
  const query = new URLSearchParams({ appId: app, from: '2026-11-01T00:00:00Z', to: '2026-11-19T00:00:00Z' });
  const response = await fetch(`${service.url}/api/v1/sessions/overview/kpis?${query}`, {
    headers: { Authorization: `Bearer ${accountKey}` },
  });
  const { current } = z
    .object({ current: z.object({ sessions: z.number(), visitors: z.number(), pageviews: z.number() }) })
    .parse(await response.json());
  return current;
}

test('a visit across midnight stays one session while its logs are rotated', async () => {
  const app = await newApp('rotated');
  const place = mkdtempSync(join(folder, 'rotated-'));
  const [log, old] = [join(place, 'access.log'), join(place, 'access.log.1')];
  const pattern = join(place, 'access.log*');
  const summaryOf = async (): Promise<unknown> => {
    const { code, stdout, stderr } = await command([pattern, '--app', app]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  writeFileSync(
    old,
    logLine('09/Nov/2026:12:00:00', '/', '198.51.100.2') + logLine('09/Nov/2026:23:55:00', '/a'),
  );
  writeFileSync(log, logLine('10/Nov/2026:00:05:00', '/b'));
  expect(await summaryOf()).toMatchObject({ sessions: 2, events: 3, duplicates: 0 });
  writeFileSync(`${old}.gz`, gzipSync(readFileSync(log)));
  rmSync(old);
  writeFileSync(log, '');
  expect(await summaryOf()).toMatchObject({ sessions: 0, events: 0, duplicates: 1 });
  expect(await counted(app)).toMatchObject({ sessions: 2, visitors: 2, pageviews: 3 });
  rmSync(`${old}.gz`);
  writeFileSync(log, logLine('10/Nov/2026:00:20:00', '/c'));
  expect(await summaryOf()).toMatchObject({ sessions: 1, events: 1, duplicates: 0 });
  expect(await counted(app)).toMatchObject({ sessions: 2, visitors: 2, pageviews: 4 });
});

test.each(['web-1  | ', 'Nov 10 10:00:00 10.0.0.5 nginx: ', '- '])(
  'a log with %j before each line is refused, and nothing is stored',
  async (prefix) => {
    const app = await newApp(`prefix-${prefix.length}`);
    const place = mkdtempSync(join(folder, 'prefix-'));
    const [wrong, right] = [join(place, 'wrong.log'), join(place, 'right.log')];
    writeFileSync(wrong, prefix + logLine('09/Nov/2026:12:00:00', '/'));
    writeFileSync(right, logLine('09/Nov/2026:12:00:00', '/'));
    const { code, stdout, stderr } = await command([right, wrong, '--app', app]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ lines: 2, events: 0, skipped: { malformed: 1 } });
    expect(stderr).toMatch(/^malformed: .*wrong\.log, line 1: address: /m);
    expect(stderr).toMatch(
      /Nothing was imported: no line of .*wrong\.log can be read\. Line 1: address: .*\n$/,
    );
    expect(await counted(app)).toMatchObject({ sessions: 0, pageviews: 0 });
  },
);

test('a log with virtual hosts in front has the visitors of its addresses', async () => {
  const app = await newApp('hosts');
  const clients = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
  const log = clients.map((client) => `www.shop.example:443 ${logLine('09/Nov/2026:12:00:00', '/', client)}`);
  const text = `\ufeff${log.join('').replaceAll('\n', '\r\n')}`;
  const { code } = await command(['-', '--app', app], `\0\0${text}`);
  expect(code).toBe(0);
  expect(await counted(app)).toMatchObject({ sessions: 3, visitors: 3, pageviews: 3 });
  const again = await command(['-', '--app', app, '--format', 'vhost_combined'], text);
  expect(JSON.parse(again.stdout)).toMatchObject({ events: 0, duplicates: 3 });
});

test('a name that no app has: one line, and nothing is read', async () => {
  const { code, stdout, stderr } = await command(['-', '--app', 'nowhere.example'], EXCERPT);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    '--app: There is no app with the name or domain nowhere.example. "admin app list" shows all.\n',
  );
});

test('an empty file is imported', async () => {
  const file = join(folder, 'empty');
  writeFileSync(file, '');
  const { code, stdout } = await command([file, '--app', await newApp('empty')]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ lines: 0, events: 0 });
});

test.each([
  [['none.log'], 'There is no file none.log.\n'],
  [['none-*.log'], 'No file matches none-*.log.\n'],
  [['-', 'a.log'], 'Standard input (-) and files cannot be imported together.\n'],
  [['-', '--state', '/dev/null/x'], /The import cannot keep its state in \/dev\/null\/x .*--state\.\n/],
  [['-', '--patience', 'long'], /'long' is invalid.*such as 8s, 30m, 24h or 7d/],
  [
    ['-', '--format', 'iis'],
    /It must be one of ndjson, combined, caddy, cloudfront, common, main, vhost_combined/,
  ],
])('says what is wrong with %j', async (args, message) => {
  const { code, stdout, stderr } = await command([
    ...args,
    '--app',
    await newApp(`e${args.join('').length}`),
  ]);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
});

test('an unknown app is found before anything is read', async () => {
  const { code, stderr } = await command([
    join(folder, 'access.log'),
    '--app',
    '0b5c2a9e-6f4d-4c39-9d0e-0d3f6f1b2a11',
  ]);
  expect([code, stderr]).toEqual([1, 'There is no app with this id.\n']);
});
