import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readResult } from '../../bench/result/file.ts';
import { type OpenService, openService } from '../../src/testing/in-process.ts';
import { newFolder, runBench } from './runs.ts';

const SECRET = 'a management secret of more than 32 characters';
const folder = newFolder();
let service: OpenService;
let key: string;
beforeAll(async () => {
  service = await openService({
    settings: { MANAGEMENT_JWT_SECRET: SECRET, PUBLIC_API_REQUESTS_PER_MINUTE: '100000' },
    seed: { accounts: [{ name: 'Acme' }] },
  });
  key = service.account('Acme').key('default').apiKey;
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

const appsNow = async (): Promise<unknown> =>
  (await fetch(`${service.url}/api/v1/apps`, { headers: { Authorization: `Bearer ${key}` } })).json();

const SMALL = ['--events', '400', '--days', '10', '--runs', '1'];
const target = (): string[] => ['--url', service.url, '--key', key];
const management = (): Record<string, string> => ({
  MANAGEMENT_JWT_SECRET: SECRET,
  MANAGEMENT_PORT: new URL(service.managementUrl).port,
});

test('it stores data, checks every answer against its own count, polls, and removes its app', async () => {
  const json = join(folder.path, 'suite.json');
  const rates = ['--rate', '40', '--rate', '80'];
  const { code, output, errors } = await runBench(
    ['http', ...target(), '--seconds', '1', ...rates, '--events', '300', '--json', json],
    {
      env: management(),
    },
  );
  expect({ code, output, errors }).toMatchObject({ code: 0 });
  const { complete, notes, command, environment, cases } = readResult(json);
  expect({ complete, notes, target: environment.target }).toEqual({
    complete: true,
    notes: [],
    target: service.url,
  });
  expect(command).toContain('--key …');
  const latencies = cases.filter(({ bench, measure }) => bench === 'http' && measure === 'latency');
  expect(latencies.map(({ name }) => name)).toEqual([
    'polling, at 40 /s',
    'polling, at 80 /s',
    'polling while events arrive, at 40 /s',
    'polling while events arrive, at 80 /s',
  ]);
  expect(latencies.every(({ histogram }) => histogram !== null)).toBe(true);
  expect(await appsNow()).toEqual([]);
});

test('every question is exact; what the Public API cannot delete is named', async () => {
  const json = join(folder.path, 'queries.json');
  const { code, errors } = await runBench(['queries', ...target(), ...SMALL, '--json', json], {
    env: { DATA_DIR: '/dev/null/nothing', MANAGEMENT_PORT: '1' },
  });
  expect(code).toBe(0);
  const { cases, notes } = readResult(json);
  const computed = cases.filter(({ measure }) => measure === 'computed');
  expect(computed).toHaveLength(7 * 3 + 3);
  expect(computed.filter(({ exact }) => exact !== true)).toEqual([]);
  expect(notes).toEqual([
    expect.stringMatching(/^The app .* stays at .* with \d+ events\. .* admin app delete --app /),
  ]);
  expect(errors).toContain(notes[0]);
  expect(await appsNow()).toHaveLength(1);
});

test('batches are counted', async () => {
  const json = join(folder.path, 'ingest.json');
  const args = ['ingest', '--url', service.url, '--seconds', '1', '--events', '200', '--json', json];
  const env = { ...management(), BENCH_API_KEY: key };
  expect(await runBench(args, { env })).toMatchObject({ code: 0 });
  const stored = readResult(json).cases.filter(({ measure }) => measure === 'throughput');
  expect(stored.map(({ bench, exact }) => [bench, exact])).toEqual([
    ['data', true],
    ['ingest', true],
  ]);
});

test('one line says what is wrong', async () => {
  const said = async (...args: string[]) => {
    const { code, errors } = await runBench(args);
    expect(code).toBe(1);
    return errors.replace(/^Nothing was measured.*\n/m, '');
  };
  expect(await said('http', '--url', service.url)).toMatch(/^--url and --key belong together/);
  expect(await said('http', '--url', 'http://127.0.0.1:1', '--key', key)).toMatch(
    /^--url: http:\/\/127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/,
  );
  expect(await said('http', '--url', service.url, '--key', 'nonsense')).toBe(
    '--key: the service does not accept a key (status 401).\n',
  );
  expect(await said('http', ...target(), '--events', '50', '--rate', '5000')).toMatch(
    /--rate: the keys allow 1666\.7 requests\/s together, and not 5000\./,
  );
});
