import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestService, testService } from '../http/support.ts';
import { newVisitor, openBrowser } from './chromium.ts';
import { type Collector, startCollector } from './collector.ts';
import { type Site, serve } from './servers.ts';
import { APP_ID, drained, SECRET, show, track } from './visit.ts';

let browser: Browser;
let collector: Collector;
let service: TestService;
let site: Site;
let visitor: BrowserContext;
let page: Page;
/** The head of the site's pages, and their policy. */
let head: string;
let policy: string;
let policyHeader: string;
/** What the console shows, by the kind of message. */
let said: Record<'warning' | 'debug', string[]>;

beforeAll(async () => {
  service = await testService();
  site = await serve('shop.test', (_req, res) => {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    if (policy !== '') res.setHeader(policyHeader, policy);
    res.end(`<!doctype html><title>Shop</title>${head}`);
  });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
  await service?.close();
});

beforeEach(async () => {
  policy = '';
  policyHeader = 'Content-Security-Policy';
  said = { warning: [], debug: [] };
  // A page that is closed sends a last beacon, which may arrive during the next test.
  collector = await startCollector();
  visitor = await newVisitor(browser);
  page = await visitor.newPage();
  page.on('console', (message) => {
    const kind = message.type();
    if ((kind === 'warning' || kind === 'debug') && message.text().startsWith('session-analytics:')) {
      said[kind].push(message.text());
    }
  });
});
afterEach(async () => {
  await visitor.close();
  await collector.close();
});

const script = (attributes: string, origin = collector.origin): string =>
  `<script defer src="${origin}/sdk.js" ${attributes}></script>`;
const RIGHT = `data-app-id="${APP_ID}" data-secret-key="${SECRET}"`;
const open = async (tag: string): Promise<void> => {
  head = tag;
  await page.goto(`${site.origin}/a`);
};
const warned = (...texts: readonly (string | RegExp)[]): Promise<void> =>
  expect.poll(() => said.warning).toEqual(texts.map((text) => expect.stringMatching(text)));

test.each([
  [
    `data-app-id="${APP_ID}"`,
    "data-secret-key (secretKey) is not the app's secret (app_secret_…). An API key is not for pages: revoke it",
  ],
  [`data-secret-key="${SECRET}"`, 'data-app-id (appId) is not a UUID'],
  [`data-app-id="shop" data-secret-key="${SECRET}"`, 'data-app-id (appId) is not a UUID'],
  [
    `data-app-id="${APP_ID}" data-secret-key="hush"`,
    "data-secret-key (secretKey) is not the app's secret (app_secret_…). An API key is not for pages: revoke it",
  ],
  [`${RIGHT} data-endpoint="stats"`, 'data-endpoint (endpoint) is no address'],
  [
    `data-app-id="${APP_ID}" data-secret-key="service_api_abc"`,
    "data-secret-key (secretKey) is not the app's secret (app_secret_…). An API key is not for pages: revoke it",
  ],
])('%s: one warning, and nothing is sent', async (attributes, text) => {
  await open(script(attributes));
  await track(page, 'ignored');
  await show(page, 'hidden');
  expect(said.warning).toEqual([`session-analytics: ${text}`]);
  expect(collector.deliveries).toEqual([]);
});

test('right attributes: not a word', async () => {
  await open(script(RIGHT));
  await drained(page);
  expect(said).toEqual({ warning: [], debug: [] });
  expect(collector.deliveries).toHaveLength(1);
});

test('a later init with right settings counts', async () => {
  await open(script(''));
  await page.evaluate(`sessionAnalytics.init({ appId: 'shop' })`);
  await page.evaluate(`sessionAnalytics.init({ appId: '${APP_ID}', secretKey: '${SECRET}' })`);
  await drained(page);
  await warned('is not a UUID');
  expect(collector.deliveries).toHaveLength(1);
});

test('a refused batch: one warning for each reason', async () => {
  collector.answers = [{ status: 400 }, { status: 400 }, { status: 413 }];
  await open(script(RIGHT));
  await drained(page);
  for (const name of ['second', 'third']) {
    await track(page, name);
    await drained(page);
  }
  await warned('refused a batch \\(400\\)', 'refused a batch \\(413\\)');
});

test('an endpoint that is none is asked once', async () => {
  collector.answers = [{ status: 404 }];
  await open(script(RIGHT));
  await drained(page);
  await track(page, 'ignored');
  await show(page, 'hidden');
  await drained(page);
  await warned('refused a batch \\(404\\)');
  expect(collector.deliveries).toHaveLength(1);
});

test("a page of another domain reads the service's reason, once", async () => {
  const created = await service.ask('/api/v1/apps', {
    method: 'POST',
    body: { name: 'Other', domain: 'http://other.test' },
  });
  const { id, secretKey } = created.json as { id: string; secretKey: string };
  let requests = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') requests++;
  });
  const stats = service.url.replace('127.0.0.1', 'stats.test');
  await open(script(`data-app-id="${id}" data-secret-key="${secretKey}"`, stats));
  await warned(
    `refused a batch \\(403\\)\\. The page's origin \\(${site.origin}\\) is not of the app's domain \\(other\\.test and its subdomains\\)`,
  );
  await track(page, 'ignored');
  await show(page, 'hidden');
  await drained(page);
  expect(requests).toBe(1);
});

test('a policy that blocks the service is named, and nothing is sent again', async () => {
  policy = `script-src ${collector.origin}; connect-src 'self'`;
  await open(script(RIGHT));
  await warned(`the page's connect-src blocks ${collector.origin}/sdk/v1/events`);
  await drained(page);
});

test('a policy that only reports changes nothing', async () => {
  policy = "script-src 'none'; connect-src 'none'";
  policyHeader = 'Content-Security-Policy-Report-Only';
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ effectiveDirective, disposition }) => {
    if (effectiveDirective === 'connect-src') window.reported = disposition })`);
  await open(script(RIGHT));
  await drained(page);
  expect(await page.evaluate('reported')).toBe('report');
  await track(page, 'later');
  await drained(page);
  expect(collector.deliveries).toHaveLength(2);
  expect(said.warning).toEqual([]);
});

test('data-debug shows what the service left out', async () => {
  const rejected = [{ session: 0, event: null, code: 'bot', message: 'The user agent is a bot.' }];
  collector.answers = [{ status: 200, body: JSON.stringify({ accepted: 0, rejected }) }];
  const shown: Promise<unknown>[] = [];
  page.on('console', (message) => {
    if (message.type() === 'debug')
      // The last ones come while the page closes.
      shown.push(...message.args().map((value) => value.jsonValue().catch(() => null)));
  });
  await open(script(`${RIGHT} data-debug`));
  await drained(page);
  await expect.poll(() => Promise.all(shown)).toContainEqual(rejected);
  expect(said.warning).toEqual([]);
});

test('data-debug shows what is sent, and the answer', async () => {
  await open(script(`${RIGHT} data-debug`));
  await drained(page);
  const [sent = '', answer = ''] = said.debug;
  const batch = collector.deliveries[0]?.batchId ?? 'none';
  expect(sent).toContain(batch);
  expect(answer).toBe(`session-analytics: ${batch} 200`);
  expect(said.warning).toEqual([]);
});
