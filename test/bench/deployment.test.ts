import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compare } from '../../bench/compare.ts';
import { readResult } from '../../bench/result/file.ts';
import type { Result } from '../../bench/result/schema.ts';
import { type OpenService, openService } from '../../src/testing/in-process.ts';
import { newFolder, runBench } from './runs.ts';

/** Questions that are asked with three ranges each: the seven of the ranges, and five with parameters of their own. */
const RANGED = 7 + 5;
/** Questions about a fixed window. */
const FIXED = 3;
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
    notes: [
      expect.stringMatching(/^Polling at 40, 80 requests\/s for 1 s gives fewer than the 100 answers /),
    ],
    target: service.url,
  });
  // Before anything is measured.
  expect(errors.indexOf('Polling at')).toBeLessThan(errors.indexOf('seeding: '));
  expect(command).toContain('--key …');
  const latencies = cases.filter(({ bench, measure }) => bench === 'http' && measure === 'latency');
  expect(latencies.map(({ name }) => name)).toEqual([
    'polling without new events, at 40 /s',
    'polling without new events, at 80 /s',
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
  expect(computed).toHaveLength(RANGED * 3 + FIXED);
  expect(computed.filter(({ exact }) => exact !== true)).toEqual([]);
  expect(notes).toEqual([
    'With 1 run of each question, `bench compare` has no verdict on questions: it needs 4.',
    expect.stringMatching(/^The app .* stays at .* with \d+ events\. .* admin app delete --app /),
  ]);
  expect(errors).toContain(notes[1]);
  expect(await appsNow()).toHaveLength(1);
});

/** A way to the service that notes what is sent. */
async function watched(): Promise<{ url: string; sent: Sent[]; close(): Promise<void> }> {
  const sent: Sent[] = [];
  const { hostname, port } = new URL(service.url);
  const server = createServer((asked, answer) => {
    const { method = '', url: path = '', headers } = asked;
    sent.push({ method, path, isRepeated: headers['if-none-match'] !== undefined, at: Date.now() });
    const onward = request({ hostname, port, method, path, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    asked.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  /** With the tag of an answer. */
  readonly isRepeated: boolean;
  readonly at: number;
}

test('no answer that is measured as computed can have been kept; two quick results can be compared', async () => {
  const way = await watched();
  const files = ['a.json', 'b.json'].map((name) => join(folder.path, name));
  try {
    const size = ['--events', '400', '--days', '10', '--runs', '4'];
    for (const file of files) {
      const args = ['queries', '--url', way.url, '--key', key, ...size, '--json', file];
      expect(await runBench(args, { env: management() })).toMatchObject({ code: 0 });
    }
  } finally {
    await way.close();
  }
  const isQuestion = ({ path }: Sent): boolean => /^\/api\/v1\/(sessions|growth)\//.test(path);
  const known = new Set<string>();
  const again = new Set<string>();
  for (const { method, path, isRepeated, at } of way.sent.filter(
    (one) => one.method === 'POST' || isQuestion(one),
  )) {
    if (method === 'POST') {
      // After a new event, nothing of the app is known.
      known.clear();
      continue;
    }
    if (isRepeated) continue;
    expect(known, `${path} is asked again without a new event`).not.toContain(path);
    known.add(path);
    if (!path.includes('from=')) again.add(path);
    const to = new URL(path, way.url).searchParams.get('to');
    if (to === null) continue;
    // `ragged` ends a day ago, and `ending now` does.
    const age = at - Date.parse(to);
    expect(age < 5_000 || age > 86_000_000, `${path} ends ${age} ms ago`).toBe(true);
  }
  expect(again.size / files.length).toBe(RANGED + FIXED);
  const [a, b] = files.map(readResult) as [Result, Result];
  expect(new Set(a.cases.flatMap(({ labels }) => labels['asked'] ?? []))).toEqual(
    new Set(['new range', 'after an event']),
  );
  const { compared, left } = compare(a, b, 10);
  expect(left).toEqual([]);
  const questions = compared.filter((entry) => entry.key.startsWith('queries: '));
  expect(questions).toHaveLength(2 * (RANGED * 3 + FIXED));
  expect(questions.filter(({ verdict }) => verdict === 'too few runs')).toEqual([]);
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
