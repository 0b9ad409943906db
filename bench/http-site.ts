import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Endpoint } from '../src/endpoints/endpoint.ts';
import { questionPath } from '../test/support/questions.ts';
import type { BenchService } from './service.ts';

const KEYS_PER_APP = 10;
const SESSIONS = 400;
const PATHS = 60;
const DAY_MS = 86_400_000;

const Created = z.object({ accountId: z.string() });
const Key = z.object({ apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });

/** An account with an app, some history, and ten pollers with a key each. */
export interface Site {
  readonly appId: string;
  readonly secretKey: string;
  readonly keys: readonly string[];
  /** Those that the service acknowledged. */
  pageviews: number;
}

/** Makes so many apps, each in an account of its own. */
export async function newSites(service: BenchService, apps: number, signal: AbortSignal): Promise<Site[]> {
  const sites: Site[] = [];
  for (let i = 0; i < apps; i++) {
    signal.throwIfAborted();
    const { accountId } = Created.parse(await service.admin('account', 'create', '--name', `Bench ${i}`));
    const keys: string[] = [];
    for (let k = 0; k < KEYS_PER_APP; k++) {
      keys.push(Key.parse(await service.admin('key', 'create', '--account', accountId)).apiKey);
    }
    const made = await fetch(`${service.url}/api/v1/apps`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${keys[0]}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Bench', domain: 'https://shop.example' }),
    });
    const { id, secretKey } = App.parse(await made.json());
    const site = { appId: id, secretKey, keys, pageviews: 0 };
    await sendSessions(service.url, site, SESSIONS);
    sites.push(site);
  }
  return sites;
}

/** Stores `count` sessions of the last days, with a pageview each. With one day, all of them began a minute ago. */
export async function sendSessions(url: string, site: Site, count: number, days = 30): Promise<void> {
  const { appId, secretKey } = site;
  const now = Date.now();
  const sessions = Array.from({ length: count }, (_, i) => {
    const start = now - ((i * 7_919) % days) * DAY_MS - 60_000;
    const path = `/page/${(i * 31) % PATHS}`;
    return {
      id: randomUUID(),
      visitorId: `v${i % 97}`,
      startedAt: new Date(start).toISOString(),
      context: {
        userAgent:
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/128.0.0.0 Safari/537.36',
        utm: { source: `source ${i % 20}` },
        location: { country: 'DE', city: `City ${i % 40}`, latitude: 50 + (i % 40) / 10, longitude: 8 },
      },
      events: [
        { type: 'pageview', timestamp: new Date(start).toISOString(), path },
        { type: 'engagement', timestamp: new Date(start + 1_000).toISOString(), path, durationMs: 900 },
      ],
    };
  });
  const answer = await fetch(`${url}/sdk/v1/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ appId, secretKey, batchId: randomUUID(), sessions }),
  });
  const text = await answer.text();
  if (!text.startsWith(`{"accepted":${count * 2}`)) throw new Error(`${answer.status} ${text.slice(0, 300)}`);
  site.pageviews += count;
}

/** A poller's request without its If-None-Match. */
export function requestHead(question: Endpoint, { appId }: Site, key: string): string {
  return `GET ${questionPath(question, appId)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: Bearer ${key}\r\n`;
}
