import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newVisitor, openBrowser } from './chromium.ts';
import { type Collector, startCollector } from './collector.ts';
import { type Site, serve, shop } from './servers.ts';
import { APP_ID, brief, counted, drained, SECRET, show, tag, track } from './visit.ts';

let browser: Browser;
let collector: Collector;
let site: Site;
let visitor: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  collector = await startCollector();
  site = await shop(collector.origin, () => tag(collector.origin));
  visitor = await newVisitor(browser);
  page = await visitor.newPage();
});
afterEach(async () => {
  await visitor.close();
  await site.close();
  await collector.close();
  expect(collector.malformed).toEqual([]);
  // A repeated batch always has the same events.
  const contents = new Map(collector.deliveries.map(({ batchId, events }) => [batchId, events]));
  for (const { batchId, events } of collector.deliveries) expect(events).toEqual(contents.get(batchId));
});

const deliveries = (count: number) =>
  expect.poll(() => collector.deliveries.length).toBeGreaterThanOrEqual(count);
const withoutTime = () => brief(collector.events()).filter((event) => !event.startsWith('engagement'));

for (const status of [429, 500, 503]) {
  test(`${status}: the same batch again, not before Retry-After`, async () => {
    collector.answers = [{ status, retryAfter: 2 }];
    await page.goto(`${site.origin}/a`);
    await drained(page);
    const [refused, taken] = collector.deliveries;
    expect(taken?.batchId).toBe(refused?.batchId);
    expect((taken?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(brief(collector.events())).toEqual(['pageview /a']);
  });
}

test('Retry-After binds the next page and other tabs too', async () => {
  collector.answers = [{ status: 503, retryAfter: 5 }];
  await page.goto(`${site.origin}/a`);
  await deliveries(1);
  // The page has read the answer.
  await expect
    .poll(() => page.evaluate('Object.keys(localStorage).some((key) => /^sa:.*:w$/.test(key))'))
    .toBe(true);
  await page.reload();
  const other = await visitor.newPage();
  await other.goto(`${site.origin}/b`);
  await other.goto(`${site.origin}/c`);
  await counted(collector, 'pageview /a', 'pageview /b', 'pageview /c');
  await drained(page);
  const [refused, next] = collector.deliveries;
  expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
  expect(withoutTime()).toEqual(['pageview /a', 'pageview /a', 'pageview /b', 'pageview /c']);
});

test('lost answers: a batch that the service has stored is repeated under its own id', async () => {
  collector.answers = ['lose', 'lose'];
  await page.goto(`${site.origin}/a`);
  await drained(page);
  expect(new Set(collector.deliveries.map(({ batchId }) => batchId)).size).toBe(1);
  expect(collector.deliveries.length).toBeGreaterThanOrEqual(3);
  expect(brief(collector.events())).toEqual(['pageview /a']);
});

test('a reload while the service is away neither loses nor repeats events', async () => {
  collector.otherwise = 'cut';
  await page.goto(`${site.origin}/a`);
  await page.click('#buy');
  await track(page, 'one');
  await deliveries(1);
  await page.reload();
  await track(page, 'two');
  await page.goto(`${site.origin}/b`);
  collector.otherwise = 'take';
  await drained(page);
  expect(withoutTime()).toEqual([
    'pageview /a',
    'click /a button#buy',
    'custom /a one',
    'pageview /a',
    'custom /a two',
    'pageview /b',
  ]);
});

test('offline and back: events of the time between arrive without a new page', async () => {
  await page.goto(`${site.origin}/a`);
  await drained(page);
  await visitor.setOffline(true);
  await page.click('#buy');
  await page.evaluate(`history.pushState({}, '', '/b')`);
  await track(page, 'offline');
  await visitor.setOffline(false);
  await drained(page);
  expect(withoutTime()).toEqual(['pageview /a', 'click /a button#buy', 'pageview /b', 'custom /b offline']);
});

test('hidden: what waits is sent at once, before the page gathers it', async () => {
  // By a timer of the page, which fires before the SDK's own, however slow the machine is.
  await page.addInitScript(`addEventListener('load', () => setTimeout(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, 20))`);
  await page.goto(`${site.origin}/a`);
  await deliveries(1);
  await drained(page);
  expect(new Set(collector.deliveries.map(({ batchId }) => batchId)).size).toBe(1);
  expect(brief(collector.events())).toEqual(['pageview /a', 'engagement /a']);
});

test('leaving the site: everything up to the last click arrives without another page', async () => {
  const elsewhere = await serve('elsewhere.test', (_req, res) => {
    res.end('elsewhere');
  });
  await page.goto(`${site.origin}/a`);
  await page.click('#buy');
  await page.goto(elsewhere.origin);
  await counted(collector, 'pageview /a', 'click /a button#buy', 'engagement /a');
  expect(collector.events()).toHaveLength(3);
  await elsewhere.close();
});

test('two tabs at once: each event once', async () => {
  const other = await visitor.newPage();
  await Promise.all([page.goto(`${site.origin}/a`), other.goto(`${site.origin}/b`)]);
  const names = Array.from({ length: 120 }, (_, i) => `event ${i}`);
  const script = (from: number) =>
    `for (const name of ${JSON.stringify(names)}.filter((_, i) => i % 2 === ${from})) sessionAnalytics.track(name)`;
  collector.answers = ['lose', 'cut', { status: 503 }];
  await Promise.all([page.evaluate(script(0)), other.evaluate(script(1))]);
  await drained(page);
  const custom = collector.events().flatMap((event) => (event.type === 'custom' ? [event.name] : []));
  expect(custom.sort()).toEqual([...names].sort());
  expect(
    withoutTime()
      .filter((event) => event.startsWith('pageview'))
      .sort(),
  ).toEqual(['pageview /a', 'pageview /b']);
});

test('the next page delivers the queue of a closed tab', async () => {
  collector.otherwise = 'cut';
  await page.goto(`${site.origin}/a`);
  await track(page, 'stranded');
  await deliveries(1);
  await page.close({ runBeforeUnload: true });
  collector.otherwise = 'take';
  const next = await visitor.newPage();
  await next.goto(`${site.origin}/b`);
  await drained(next);
  expect(withoutTime()).toEqual(['pageview /a', 'custom /a stranded', 'pageview /b']);
});

for (const status of [401, 403]) {
  test(`${status}: one request, then silence`, async () => {
    collector.answers = [{ status }];
    await page.goto(`${site.origin}/a`);
    await drained(page);
    await track(page, 'ignored');
    await show(page, 'hidden');
    await drained(page);
    expect(collector.deliveries).toHaveLength(1);
  });
}

test('400: the batch is dropped, the next one goes', async () => {
  collector.answers = [{ status: 400 }];
  await page.goto(`${site.origin}/a`);
  await drained(page);
  await track(page, 'next');
  await drained(page);
  expect(brief(collector.events())).toEqual(['custom /a next']);
});

test('as a module: init and track, once initialised', async () => {
  const settings = JSON.stringify({ appId: APP_ID, secretKey: SECRET, endpoint: `${collector.origin}/` });
  const { outputFiles } = await build({
    stdin: {
      contents: `import { init, track } from './index.ts';
        track('too early'); init(${settings}); init(${settings}); track('ready');`,
      resolveDir: new URL('../../src/sdk', import.meta.url).pathname,
    },
    bundle: true,
    format: 'esm',
    write: false,
  });
  const own = await serve('shop.test', (req, res) => {
    const script = req.url === '/main.js';
    res.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
    res.end(script ? outputFiles[0]?.text : '<script type="module" src="/main.js"></script>');
  });
  await page.goto(`${own.origin}/app`);
  await drained(page);
  expect(brief(collector.events())).toEqual(['pageview /app', 'custom /app ready']);
  await own.close();
});

test('a site without settings in the tag calls init itself', async () => {
  const own = await shop(collector.origin, () => `<script src="${collector.origin}/sdk.js"></script>`);
  await page.goto(`${own.origin}/app`);
  await track(page, 'too early');
  await page.evaluate(`sessionAnalytics.init(${JSON.stringify({ appId: APP_ID, secretKey: SECRET })})`);
  await track(page, 'ready');
  await drained(page);
  expect(brief(collector.events())).toEqual(['pageview /app', 'custom /app ready']);
  await own.close();
});
