import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { resultOf, series } from '../support/bench-result.ts';
import { envOf, expectDone, NODES, plainEnv, run } from './commands.ts';
import { bringProductionPackages, emptyFolder, install } from './install.ts';

const tarballs = inject('tarballs');
const ANY_PORTS = { PORT: '0', MANAGEMENT_PORT: '0' };

const whole = emptyFolder();
const serverOnly = emptyFolder();
beforeAll(() => {
  bringProductionPackages(whole, { optional: true });
  install(whole, [tarballs['session-analytics'], tarballs['session-analytics-client']]);
  bringProductionPackages(serverOnly, { optional: false });
  install(serverOnly, [tarballs['session-analytics']], '--omit=optional');
});

const started = new Set<ChildProcess>();
afterAll(() => {
  for (const child of started) signal(child, 'SIGKILL');
  for (const folder of [whole, serverOnly]) rmSync(folder, { recursive: true, force: true });
});

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, name);
}

/** Starts a command of the installed package, and yields its lines. */
function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn('npx', ['--offline', 'session-analytics', ...args], {
    cwd: whole,
    env: { ...env, ...ANY_PORTS },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: npx starts a shell, which starts the service.
    detached: true,
  });
  started.add(child);
  let errors = '';
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const lines = createInterface({ input: child.stdout });
  const lineWith = async (pattern: RegExp): Promise<string> => {
    for await (const line of lines) {
      const match = pattern.exec(line)?.[1];
      if (match !== undefined) return match;
    }
    throw new Error(`${args.join(' ')} ended:\n${errors}`);
  };
  const stop = async (): Promise<void> => {
    // When the last process of the group has closed its output.
    const ended = once(child, 'close');
    signal(child, 'SIGTERM');
    await ended;
    started.delete(child);
  };
  return { lines, lineWith, stop };
}

test('the package is clean for publint', () => {
  const publint = resolve('node_modules/.bin/publint');
  expectDone(publint, ['run', tarballs['session-analytics'], '--strict'], { cwd: whole });
});

test('npx session-analytics demo prints lines, and the client gets the first answer on every Node', async () => {
  const demo = start(['demo'], { ...plainEnv(), DATA_DIR: join(whole, 'data') });
  const said: Record<string, string> = {};
  for await (const line of demo.lines) {
    const [, name = '', value = ''] = /^export (\w+)='(.*)'$/.exec(line) ?? [];
    if (name !== '') said[name] = value;
    if (name === 'APP') break;
  }
  const ask = `
    const client = createClient({ baseUrl: '${said['URL']}', apiKey: '${said['KEY']}' });
    client.listPageviews({ appId: '${said['APP']}', limit: 1 }).then(({ data }) => console.log(JSON.stringify(data)));`;
  writeFileSync(join(whole, 'ask.mjs'), `import { createClient } from 'session-analytics-client';${ask}`);
  writeFileSync(
    join(whole, 'ask.cjs'),
    `const { createClient } = require('session-analytics-client');${ask}`,
  );
  const answers = Object.entries(NODES).flatMap(([version, folder]) =>
    ['ask.mjs', 'ask.cjs'].map((file) =>
      JSON.parse(expectDone(join(folder, 'node'), [file], { cwd: whole, env: envOf(version) })),
    ),
  );
  expect(answers).toHaveLength(6);
  for (const answer of answers) {
    expect(answer).toEqual([{ path: '/', views: expect.any(Number), uniqueSessions: expect.any(Number) }]);
    expect(answer).toEqual(answers[0]);
  }
  await demo.stop();
});

test('bench makes a page of a result, with the plotting library that the package brings', () => {
  const cases = [1_000, 10_000].map((events) =>
    series({ bench: 'scale', name: `pageviews, ${events}`, measure: 'first', runs: [1, 2, 3] }),
  );
  writeFileSync(join(whole, 'result.json'), JSON.stringify(resultOf(cases)));
  const npx = ['--offline', 'session-analytics', 'bench'];
  expectDone('npx', [...npx, 'report', 'result.json', '--html', 'page.html'], { cwd: whole });
  expect(readFileSync(join(whole, 'page.html'), 'utf8')).toContain('<svg ');
  expect(existsSync(join(whole, 'node_modules/echarts'))).toBe(false);
  const compared = expectDone('npx', [...npx, 'compare', 'result.json', 'result.json'], { cwd: whole });
  expect(compared).toContain('2 cases: 0 worse, 0 better, 0 same, 2 too few runs');
});

test.each(Object.keys(NODES))('the service runs on plain Node %s', async (version) => {
  const env = { ...envOf(version), DATA_DIR: join(whole, `data-${version}`), LOG_LEVEL: 'info' };
  const service = start(['serve'], env);
  const url = await service.lineWith(/"url":"([^"]+)".*"msg":"listening"/);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(await (await fetch(`${url}/sdk.js`)).text()).toContain('/sdk/v1/events');
  expect((await fetch(`${url}/docs/style.css`)).status).toBe(200);
  await service.stop();
});

describe('with --omit=optional', () => {
  const npx = (env: Readonly<Record<string, string>>, ...args: string[]) =>
    run('npx', ['--offline', 'session-analytics', ...args], {
      cwd: serverOnly,
      env: { ...plainEnv(), ...ANY_PORTS, ...env },
    });

  test('the engine is not there, and one line says so to those who ask for it', () => {
    expect(existsSync(join(serverOnly, 'node_modules/chdb'))).toBe(false);
    const line =
      'The embedded engine, the package chdb, is not installed. Install the optional packages ' +
      '(npm install --include=optional), or set CLICKHOUSE_URL to a ClickHouse server.\n';
    for (const command of ['serve', 'demo', 'migrate']) {
      expect(npx({}, command)).toMatchObject({ status: 1, stderr: line });
    }
  });

  test('with a ClickHouse server all else goes on', () => {
    const away = {
      CLICKHOUSE_URL: 'http://127.0.0.1:1',
      MANAGEMENT_JWT_SECRET: 'a secret of 32 characters or more',
    };
    const { status, stderr } = npx(away, 'migrate');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Cannot open the store at http:\/\/127\.0\.0\.1:1: connect ECONNREFUSED/);
    expect(npx({}, '--help').status).toBe(0);
  });
});
