import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestService, testService } from '../http/support.ts';
import { newVisitor, openBrowser } from './chromium.ts';
import { type Site, serve, shop } from './servers.ts';
import { drained, show, tag, track } from './visit.ts';

interface Sent {
  readonly batchId: string;
  readonly sessions: readonly [
    {
      readonly id: string;
      readonly startedAt: string;
      readonly events: readonly { type: string; path: string; timestamp: string; durationMs?: number }[];
    },
  ];
}

let browser: Browser;
let service: TestService;
let site: Site;
let elsewhere: Site;
let app: string;
let secretKey: string;
let visitor: BrowserContext;
let page: Page;
/** Batches that the browser has sent, each once. */
const sent = new Map<string, Sent>();

beforeAll(async () => {
  service = await testService();
  const created = await service.ask('/api/v1/apps', {
    method: 'POST',
    body: { name: 'Shop', domain: 'http://shop.test' },
  });
  expect(created.status).toBe(201);
  ({ id: app, secretKey } = created.json as { id: string; secretKey: string });
  const stats = service.url.replace('127.0.0.1', 'stats.test');
  site = await shop(stats, () => tag(stats, '', { appId: app, secretKey }));
  elsewhere = await serve('elsewhere.test', (_req, res) => {
    res.end('elsewhere');
  });
  browser = await openBrowser();
  visitor = await newVisitor(browser);
  visitor.on('request', (request) => {
    const body = request.method() === 'POST' ? (JSON.parse(request.postData() ?? '') as Sent) : undefined;
    if (body) sent.set(body.batchId, body);
  });
  page = await visitor.newPage();
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
  await elsewhere?.close();
  await service?.close();
});

const read = async (path: string): Promise<unknown> => {
  const answer = await service.ask(`/api/v1/${path}?appId=${app}`);
  expect(answer.status).toBe(200);
  return answer.json;
};

/** One visit: lands, clicks, throws, hides, moves, reloads, goes offline and comes back, and leaves. */
async function visit(): Promise<void> {
  await page.goto(`${site.origin}/landing?utm_source=news&utm_medium=email&utm_campaign=autumn`, {
    referer: 'http://blog.test/article?id=7',
  });
  await page.click('#buy');
  await page.click('a[data-x]');
  await page.evaluate(`setTimeout(() => { throw new TypeError('boom') })`);
  await track(page, 'signup');
  await show(page, 'hidden');
  await show(page, 'visible');
  await page.evaluate(`history.pushState({}, '', '/checkout?step=1')`);
  await page.click('#buy');
  await page.reload();
  await drained(page);
  await visitor.setOffline(true);
  await page.click('#buy');
  await track(page, 'offline');
  await page.evaluate(`history.pushState({}, '', '/thanks')`);
  await show(page, 'hidden');
  await visitor.setOffline(false);
  await show(page, 'visible');
  await drained(page);
  await page.goto(elsewhere.origin);
  await page.goto(`${site.origin}/again`);
  await drained(page);
}

test('the endpoints show exactly the actions of a visitor', async () => {
  await visit();
  const events = [...sent.values()].flatMap(({ sessions: [session] }) => session.events);
  const times = events.map(({ timestamp }) => timestamp).sort();
  const [startedAt] = new Set([...sent.values()].map(({ sessions: [session] }) => session.startedAt));
  const engaged = events.filter(({ type }) => type === 'engagement');
  const engagedMs = (of = engaged) => of.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);

  expect(await read('sessions/data-bounds')).toEqual({ oldest: startedAt, newest: startedAt });
  expect(startedAt).toBe(times[0]);
  expect(await read('sessions/pageviews')).toEqual([
    { path: '/checkout', views: 2, uniqueSessions: 1 },
    { path: '/again', views: 1, uniqueSessions: 1 },
    { path: '/landing', views: 1, uniqueSessions: 1 },
    { path: '/thanks', views: 1, uniqueSessions: 1 },
  ]);
  const views: Record<string, number> = { '/checkout': 2, '/landing': 1, '/thanks': 1 };
  const paths = [...new Set(engaged.map(({ path }) => path))].map((path) => {
    const totalMs = engagedMs(engaged.filter((event) => event.path === path));
    return { path, totalMs, averageMs: Math.round(totalMs / (views[path] ?? 1)) };
  });
  expect(await read('sessions/timespent')).toEqual(
    paths.sort((a, b) => b.totalMs - a.totalMs || a.path.localeCompare(b.path)),
  );
  expect(await read('growth/utm')).toEqual([
    {
      source: 'news',
      medium: 'email',
      campaign: 'autumn',
      term: null,
      content: null,
      sessions: 1,
      visitors: 1,
    },
  ]);

  const duration = Date.parse(times.at(-1) ?? '') - Date.parse(startedAt ?? '');
  const one = (name: string) => [{ name, sessions: 1, share: 1 }];
  expect(await read('sessions/overview/extended')).toEqual({
    from: null,
    to: null,
    session: {
      sessions: 1,
      visitors: 1,
      newVisitors: 1,
      returningVisitors: 0,
      bounces: 0,
      bounceRate: 0,
      averageDurationMs: duration,
    },
    page: {
      pageviews: 5,
      uniquePages: 4,
      pagesPerSession: 5,
      averageTimeOnPageMs: Math.round(engagedMs() / 5),
      topPages: await read('sessions/pageviews'),
      entryPages: [{ path: '/landing', sessions: 1 }],
      exitPages: [{ path: '/again', sessions: 1 }],
    },
    interaction: {
      clicks: 4,
      clicksPerSession: 4,
      customEvents: 2,
      engagedMs: engagedMs(),
      topTargets: [
        { target: 'button#buy', clicks: 3 },
        { target: 'a[data-x]', clicks: 1 },
      ],
      topCustomEvents: [
        { name: 'offline', count: 1 },
        { name: 'signup', count: 1 },
      ],
    },
    technology: {
      browsers: one('Chrome'),
      operatingSystems: one('Linux'),
      devices: one('desktop'),
      screenSizes: one('1280x720'),
      languages: one('fa-IR'),
    },
    error: {
      errors: 1,
      sessionsWithErrors: 1,
      errorRate: 1,
      topErrors: [{ message: 'TypeError: boom', count: 1, sessions: 1 }],
    },
    traffic: {
      channels: one('email'),
      referrers: one('blog.test'),
      countries: one('(none)'),
      utmSources: one('news'),
    },
  });
});

test('wrong credentials and the pages of another site count for nothing', async () => {
  const stats = service.url.replace('127.0.0.1', 'stats.test');
  const before = await read('sessions/pageviews');
  const secrets = [`app_secret_${'0'.repeat(46)}`, secretKey];
  const foreign = await serve('elsewhere.test', (req, res) => {
    res.setHeader('Content-Type', 'text/html');
    res.end(tag(stats, '', { appId: app, secretKey: secrets[Number(req.url?.slice(1))] ?? '' }));
  });
  const settled = () =>
    Promise.race([
      page.waitForEvent('requestfinished', (request) => request.method() === 'POST'),
      page.waitForEvent('requestfailed', (request) => request.method() === 'POST'),
    ]);
  for (const path of ['/0', '/1']) {
    const answered = settled();
    await page.goto(`${foreign.origin}${path}`);
    await answered;
  }
  expect(await read('sessions/pageviews')).toEqual(before);
  await foreign.close();
});
