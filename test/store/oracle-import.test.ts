import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { type ManagedService, managedService } from '../support/management.ts';
import { readAccessLog } from '../support/oracle/access-log.ts';
import { logLexicon } from '../support/oracle/log-lexicon.ts';
import { createOracle, type Oracle } from '../support/oracle/oracle.ts';
import { PROGRAM } from '../support/program.ts';

/** Another log of the same site can be given. */
const FILE =
  process.env['ACCESS_LOG'] ?? fileURLToPath(new URL('../data/access-excerpt.log', import.meta.url));
const DOMAIN = 'http://semicomplete.com';

let service: ManagedService;
let apiKey: string;
let app: string;

beforeAll(async () => {
  service = await managedService();
  const { accountId } = await admin('account', 'create', '--name', 'Acme');
  ({ apiKey } = await admin('key', 'create', '--account', accountId));
  const response = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Site', domain: DOMAIN }),
  });
  expect(response.status).toBe(201);
  app = ((await response.json()) as { id: string }).id;
});
afterAll(() => service.close());

async function admin(...args: string[]): Promise<{ accountId: string; apiKey: string }> {
  return JSON.parse((await service.admin(args)).stdout);
}

async function importFile(): Promise<unknown> {
  const { port } = new URL(service.managementUrl);
  const { stdout } = await promisify(execFile)(PROGRAM, ['import', FILE, '--app', app], {
    env: { PATH: process.env['PATH'], MANAGEMENT_PORT: port, DATA_DIR: service.dataDir },
  });
  return JSON.parse(stdout);
}

async function get(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
  const response = await fetch(
    `${service.url}/api/v1/${path}?${new URLSearchParams({ appId: app, ...query })}`,
    {
      headers: { Authorization: `Bearer ${apiKey}` },
    },
  );
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body;
}

const RANGES: readonly (readonly [string | null, string | null])[] = [
  [null, null],
  ['2015-05-17T10:05:03Z', '2015-05-18T20:29:59.999Z'],
  ['2015-05-18T02:05:00.001Z', '2015-05-18T12:05:59Z'],
  ['2015-05-18T12:00:00Z', null],
  [null, '2015-05-17T23:59:59.999Z'],
];

test('answers about an imported access log equal those of the oracle', async () => {
  const { lines, skipped, deliveries } = readAccessLog(readFileSync(FILE, 'utf8'), {
    id: app,
    domain: DOMAIN,
  });
  const events = deliveries.reduce((total, delivery) => total + delivery.events.length, 0);
  const sessions = deliveries.length;
  expect(sessions).toBeGreaterThan(0);
  expect(await importFile()).toEqual({ lines, sessions, events, skipped, duplicates: 0 });
  expect(await importFile()).toEqual({ lines, sessions: 0, events: 0, skipped, duplicates: events });

  const oracle = createOracle(deliveries, logLexicon, () => Date.now());
  expect(await get('sessions/data-bounds', {})).toEqual(oracle.dataBounds(appId(app)));
  for (const [from, to] of RANGES) {
    await expectRange(oracle, from, to);
  }
});

async function expectRange(oracle: Oracle, from: string | null, to: string | null): Promise<void> {
  const id = appId(app);
  const query = { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
  const bound = (text: string | null) => (text === null ? null : epochMs(new Date(text).getTime()));
  const range = { from: bound(from), to: bound(to) };
  const expected: Readonly<Record<string, unknown>> = {
    'sessions/overview/extended': oracle.overview(id, range),
    'sessions/pageviews': oracle.pageviews(id, range),
    'sessions/timespent': oracle.timeSpent(id, range),
    'sessions/user-growth': oracle.userGrowth(id, range),
    'sessions/locations/all': oracle.locations(id, range),
    'growth/utm': oracle.utmCampaigns(id, range),
    ...(range.from === null || range.to === null
      ? {}
      : { 'sessions/overview/kpis': oracle.kpis(id, { from: range.from, to: range.to }) }),
  };
  for (const [path, answer] of Object.entries(expected)) {
    expect(await get(path, query), `${path} from ${from} to ${to}`).toEqual(answer);
  }
}
