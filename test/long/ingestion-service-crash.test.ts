import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs, type OpenRange } from '../../src/domain/time.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { byChance } from '../support/chance.ts';
import { withinHalfHour } from '../support/half-hour.ts';
import { KNOWN_DOMAIN, known, USER_AGENTS } from '../support/oracle/known.ts';
import type { Delivery, SentEvent } from '../support/oracle/model.ts';
import { createOracle, type Oracle } from '../support/oracle/oracle.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';

const LIVES = 5;
const SENDERS = 6;
const HOUR = 3_600_000;
const OPEN: OpenRange = { from: null, to: null };

let folder: string;
let service: ServiceProcess;
let site: { readonly app: AppId; readonly secretKey: string; readonly apiKey: string };
/** The time of the first batch; the last one is about now. */
const begin = Date.now() - 40 * HOUR;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-crash-'));
  service = await start();
  site = await newSite();
});
afterAll(async () => {
  await service.kill();
  removeFolder(folder);
});

const start = (): Promise<ServiceProcess> =>
  serviceProcess({ DATA_DIR: folder, PUBLIC_API_REQUESTS_PER_MINUTE: '100000' });

async function newSite(): Promise<typeof site> {
  const account = await service.admin('account', 'create', '--name', 'Acme');
  const { accountId } = z.object({ accountId: z.string() }).parse(account);
  const key = await service.admin('key', 'create', '--account', accountId);
  const { apiKey } = z.object({ apiKey: z.string() }).parse(key);
  const response = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Shop', domain: KNOWN_DOMAIN }),
  });
  const made = z.object({ id: z.string(), secretKey: z.string() }).parse(await response.json());
  return { app: appId(made.id), secretKey: made.secretKey, apiKey };
}

/**
 * Makes the batch with this number: one session, which every third batch continues. It has every kind of
 * event, page and place.
 */
function delivery(number: number): Delivery {
  const session = number - (number % 3);
  const startedAt = begin + session * 90_000;
  const at = (i: number): number => startedAt + (number % 3) * 400_000 + i * 11_003;
  const path = `/page-${number % 7}`;
  const events: SentEvent[] = [
    { type: 'pageview', timestamp: at(0), path },
    { type: 'engagement', timestamp: at(1), path, durationMs: 1_000 + number },
    ...(number % 2 === 0
      ? [{ type: 'click' as const, timestamp: at(2), path, target: `#b${number % 4}` }]
      : []),
    ...(number % 5 === 0
      ? [{ type: 'error' as const, timestamp: at(3), path, message: `broken ${number % 3}` }]
      : []),
    ...(number % 4 === 0 ? [{ type: 'custom' as const, timestamp: at(4), path, name: 'signup' }] : []),
  ];
  const agents = [...USER_AGENTS.keys()];
  return {
    appId: site.app,
    appDomain: KNOWN_DOMAIN,
    session: { id: `s-${session}`, visitorId: `v-${session % 40}`, startedAt },
    context: {
      userAgent: agents[session % agents.length] ?? '',
      utm: session % 2 === 0 ? { source: 'newsletter', campaign: `c${session % 5}` } : {},
      location: { country: 'IR', city: `City ${session % 6}`, latitude: 30 + (session % 6), longitude: 51 },
    },
    events,
  };
}

const iso = (at: number): string => new Date(at).toISOString();

/** Bodies of batches, so that a repetition is byte for byte the same. */
const bodies = new Map<number, string>();
function bodyOf(number: number): string {
  const known = bodies.get(number);
  if (known !== undefined) return known;
  const { session, context, events } = delivery(number);
  const sent = {
    ...session,
    startedAt: iso(session.startedAt),
    context,
    events: events.map((event) => ({ ...event, timestamp: iso(event.timestamp) })),
  };
  const { app, secretKey } = site;
  const body = JSON.stringify({ appId: app, secretKey, batchId: randomUUID(), sessions: [sent] });
  bodies.set(number, body);
  return body;
}

/** True if the service acknowledges the batch; false without an answer. */
async function isAcknowledged(url: string, number: number): Promise<boolean> {
  try {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: bodyOf(number) };
    return (await fetch(`${url}/sdk/v1/events`, init)).status === 200;
  } catch {
    return false;
  }
}

async function get(path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const search = new URLSearchParams({ appId: site.app, ...query });
  const response = await fetch(`${service.url}/api/v1/${path}?${search}`, {
    headers: { Authorization: `Bearer ${site.apiKey}` },
  });
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Expects every endpoint to equal a walk over the acknowledged events. */
async function expectEveryEndpoint(oracle: Oracle): Promise<void> {
  const [from, to] = [epochMs(begin), epochMs(begin + 30 * HOUR)];
  const ranges = [OPEN, { from: epochMs(begin + 1_234_567), to: epochMs(begin + 7_654_321) }];
  const { app } = site;
  expect(await get('sessions/data-bounds')).toEqual(oracle.dataBounds(app));
  expect(await get('sessions/overview/kpis', { from: iso(from), to: iso(to) })).toEqual(
    oracle.kpis(app, { from, to }),
  );
  expect(await get('sessions/traffic-heatmap')).toEqual(oracle.trafficHeatmap(app));
  expect(await get('sessions/traffic-audience-activity')).toEqual(oracle.audienceActivity(app));
  for (const range of ranges) {
    const query =
      range.from === null || range.to === null ? {} : { from: iso(range.from), to: iso(range.to) };
    const expected: Readonly<Record<string, unknown>> = {
      'sessions/overview/extended': oracle.overview(app, range),
      'sessions/pageviews': oracle.pageviews(app, range),
      'sessions/timespent': oracle.timeSpent(app, range),
      'sessions/user-growth': oracle.userGrowth(app, range),
      'sessions/locations/all': oracle.locations(app, range),
      'growth/utm': oracle.utmCampaigns(app, range),
    };
    for (const [path, answer] of Object.entries(expected))
      expect(await get(path, query), path).toEqual(answer);
  }
}

/**
 * Returns the counts of each rollup and of the raw rows. The rows of sealed sessions were deleted, so those
 * count from `events`.
 */
async function countsByTable(): Promise<unknown> {
  await service.stop();
  const db = await openDatabase({ kind: 'embedded', dataDir: folder, database: 'analytics' });
  const statement = sql`
    WITH (SELECT fromUnixTimestamp64Milli(max(kept_from), 'UTC') FROM kept_sessions) AS kept
    SELECT
      (SELECT count() FROM events) AS raw,
      (SELECT sum(s.events) FROM sessions AS s WHERE started_at >= kept) + (SELECT countIf(started_at < kept) FROM events) AS sessions,
      (SELECT sum(pageviews + clicks + errors + customs + engagements) FROM traffic WHERE grain = 'utc_hour') AS hours,
      (SELECT sum(pageviews + clicks + errors + customs + engagements) FROM traffic WHERE grain = 'tehran_day') AS days,
      (SELECT sum(events) FROM ledger WHERE kind = 'event') AS ledger`;
  const n = z.coerce.number();
  const row = z.object({ raw: n, sessions: n, hours: n, days: n, ledger: n });
  const counts = await db.queryOne({ name: 'counts by table', sql: statement, row });
  await db.close();
  return counts;
}

test('the service, killed again and again under parallel senders, has stored every acknowledged event once', async () => {
  const acknowledged = new Set<number>();
  let next = 0;
  /** Repeats its batch across deaths and starts, until it is acknowledged. */
  let isOver = false;
  const sender = async (): Promise<void> => {
    while (!isOver) {
      const number = next++;
      while (!(await isAcknowledged(service.url, number))) await sleep(50);
      acknowledged.add(number);
    }
  };
  const senders = Array.from({ length: SENDERS }, sender);
  for (let life = 0; life < LIVES; life++) {
    const enough = acknowledged.size + 15 + byChance(40);
    await expect.poll(() => acknowledged.size, { interval: 5 }).toBeGreaterThan(enough);
    await sleep(byChance(60));
    await service.kill();
    service = await start();
  }
  isOver = true;
  await Promise.all(senders);
  const deliveries = [...acknowledged].sort((a, b) => a - b).map(delivery);
  expect(deliveries.length).toBe(next);
  const oracle = createOracle(deliveries, known, () => Date.now());
  await withinHalfHour(() => expectEveryEndpoint(oracle));
  const events = deliveries.reduce((sum, { events }) => sum + events.length, 0);
  expect(await countsByTable()).toEqual({
    raw: events,
    sessions: events,
    hours: events,
    days: events,
    ledger: events,
  });
});
