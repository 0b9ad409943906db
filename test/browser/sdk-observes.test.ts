import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newVisitor, openBrowser } from './chromium.ts';
import { type Collector, startCollector } from './collector.ts';
import { type Site, shop } from './servers.ts';
import { brief, drained, show, tag, track } from './visit.ts';

let browser: Browser;
let collector: Collector;
let site: Site;
let visitor: BrowserContext;
let page: Page;
let head = '';

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  collector = await startCollector();
  head = tag(collector.origin);
  site = await shop(collector.origin, () => head);
  visitor = await newVisitor(browser);
  page = await visitor.newPage();
});
afterEach(async () => {
  await visitor.close();
  await site.close();
  await collector.close();
  expect(collector.malformed).toEqual([]);
});

const of = (type: string) => brief(collector.events()).filter((event) => event.startsWith(type));

test('a landing: the pageview, where the visitor came from, language and screen', async () => {
  await page.goto(`${site.origin}/landing?utm_source=news&utm_campaign=autumn&secret=1#top`, {
    referer: 'http://search.test/find?q=private',
  });
  await drained(page);
  const [session] = collector.sessions();
  expect(session?.context).toEqual({
    referrer: 'http://search.test/find',
    utm: { source: 'news', campaign: 'autumn' },
    language: 'fa-IR',
    screen: '1280x720',
  });
  expect(brief(collector.events())).toEqual(['pageview /landing']);
  expect(collector.events()[0]?.timestamp).toBe(session?.startedAt);
});

test('navigation inside the page: one pageview for each new path, none for query and hash', async () => {
  await page.goto(`${site.origin}/a`);
  await page.evaluate(`history.replaceState({}, '', '/a?sort=1')`);
  await page.evaluate(`history.pushState({}, '', '/b')`);
  await page.evaluate(`location.hash = 'part'`);
  await page.evaluate(`history.pushState({}, '', '/b?page=2')`);
  await page.evaluate(`history.replaceState({}, '', '/c')`);
  await page.evaluate(`history.go(-2)`);
  await expect.poll(() => page.url()).toMatch(/\/b$/);
  await page.evaluate(`history.go(-1)`);
  await expect.poll(() => page.url()).toMatch(/\/a\?sort=1$/);
  await drained(page);
  expect(of('pageview')).toEqual(['/a', '/b', '/c', '/b', '/a'].map((path) => `pageview ${path}`));
  expect(new Set(collector.sessions().map(({ id }) => id)).size).toBe(1);
});

test('clicks by a stable short name, once each, and never typed text', async () => {
  await page.goto(`${site.origin}/`);
  await page.click('#buy b');
  await page.click('[data-plan]');
  await page.click('a[data-x]');
  await page.click('#menu a');
  await page.click('label');
  await page.click('#card p');
  await page.fill('#email', 'zahra@example.ir');
  await page.click('#email');
  await page.type('#note', 'my secret');
  await page.evaluate(`document.querySelector('#buy').click()`);
  await drained(page);
  expect(of('click')).toEqual([
    'click / button#buy',
    'click / button[data-plan]',
    'click / a[data-x]',
    'click / #menu a',
    'click / input#news',
    'click / #card p',
    'click / input#email',
  ]);
  const everything = collector.deliveries.map(({ text }) => text).join();
  expect(everything).not.toMatch(/zahra|secret"|my |Buy|pro"/);
  expect(await visitor.cookies()).toEqual([]);
});

test('errors and rejections, the message only, at most 50 on a page', async () => {
  await page.goto(`${site.origin}/`);
  await page.evaluate(`setTimeout(() => { throw new TypeError('boom') })`);
  await page.evaluate(`setTimeout(() => { Promise.reject(new Error('late')) })`);
  await page.evaluate(`setTimeout(() => { Promise.reject('plain') })`);
  await page.evaluate(`document.body.append(Object.assign(new Image(), { src: '/missing.png' }))`);
  await expect
    .poll(async () => {
      await drained(page);
      return of('error');
    })
    .toHaveLength(3);
  expect(of('error')).toEqual(['error / TypeError: boom', 'error / Error: late', 'error / plain']);
  await page.evaluate(`for (let i = 0; i < 80; i++) setTimeout(() => { throw i })`);
  await track(page, 'after');
  await expect
    .poll(async () => {
      await drained(page);
      return of('custom');
    })
    .toHaveLength(1);
  expect(of('error')).toHaveLength(50);
});

test('custom events: trimmed, cut, empty ones ignored', async () => {
  await page.goto(`${site.origin}/`);
  await track(page, ' signup ');
  await track(page, '  ');
  await track(page, 'x'.repeat(600));
  await drained(page);
  expect(of('custom')).toEqual(['custom / signup', `custom / ${'x'.repeat(512)}`]);
});

test('visible time: whole ms, by page, only while the page is looked at', async () => {
  await page.clock.install();
  await page.goto(`${site.origin}/a`);
  await page.clock.runFor(4_000);
  await page.evaluate(`history.pushState({}, '', '/b')`);
  await page.clock.runFor(1_000);
  await show(page, 'hidden');
  await page.clock.runFor(60_000);
  await show(page, 'visible');
  await page.clock.runFor(2_500);
  await show(page, 'hidden');
  await expect.poll(() => of('engagement')).toEqual(['engagement /a', 'engagement /b', 'engagement /b']);
  const times = collector
    .events()
    .flatMap((event) => (event.type === 'engagement' ? [event.durationMs] : []));
  const [a = 0, b = 0, again = 0] = times;
  // The page's clock also advances by itself.
  expect(a).toBeGreaterThanOrEqual(4_000);
  expect(b).toBeGreaterThanOrEqual(1_000);
  expect(b).toBeLessThan(60_000);
  expect(again).toBeGreaterThanOrEqual(2_500);
  expect(again).toBeLessThan(60_000);
});

test('a new session after 30 idle minutes: its own start, no second landing', async () => {
  await page.clock.install();
  await page.goto(`${site.origin}/?utm_source=news`);
  await page.clock.runFor(5_000);
  await expect.poll(() => collector.events()).toHaveLength(1);
  await page.clock.fastForward(31 * 60_000);
  await track(page, 'late');
  await page.clock.runFor(5_000);
  await expect.poll(() => of('custom')).toHaveLength(1);
  const [first, second] = collector.sessions();
  expect(second?.id).not.toBe(first?.id);
  expect(second?.visitorId).toBe(first?.visitorId);
  expect(second?.startedAt).toBe(second?.events[0]?.timestamp);
  expect(first?.context.utm).toEqual({ source: 'news' });
  expect(second?.context.utm).toBeUndefined();
});

test('tabs and reloads share visitor and session', async () => {
  await page.goto(`${site.origin}/a`);
  await page.reload();
  const other = await visitor.newPage();
  await other.goto(`${site.origin}/b`);
  await drained(other);
  const ids = collector.sessions().map(({ id, visitorId, startedAt }) => `${id} ${visitorId} ${startedAt}`);
  expect(new Set(ids).size).toBe(1);
  expect(of('pageview')).toEqual(['pageview /a', 'pageview /a', 'pageview /b']);
});

test('a page from the back-forward cache counts as a new view', async () => {
  await page.goto(`${site.origin}/a`);
  await page.evaluate(`addEventListener('pageshow', (event) => { window.cached = event.persisted })`);
  await page.goto(`${site.origin}/b`);
  await page.evaluate(`setTimeout(() => history.back())`);
  await expect.poll(() => page.evaluate('window.cached').catch(() => null)).toBe(true);
  await drained(page);
  expect(of('pageview')).toEqual(['pageview /a', 'pageview /b', 'pageview /a']);
});

const SIGNALS = { globalPrivacyControl: 'true', doNotTrack: "'1'" };
for (const [signal, value] of Object.entries(SIGNALS)) {
  test(`${signal} is respected: nothing is sent or stored, unless the site has chosen otherwise`, async () => {
    await page.goto(`${site.origin}/before`);
    await drained(page);
    const before = collector.deliveries.length;
    await visitor.addInitScript(`Object.defineProperty(navigator, '${signal}', { value: ${value} })`);
    await page.goto(`${site.origin}/private`);
    await track(page, 'private');
    await page.click('#buy');
    expect(await page.evaluate(`Object.keys(localStorage)`)).toEqual([]);
    head = tag(collector.origin, 'data-respect-do-not-track="no"');
    await page.goto(`${site.origin}/chosen`);
    await drained(page);
    const later = collector.deliveries.slice(before).flatMap(({ events }) => brief(events));
    expect(later.filter((event) => !event.endsWith('/before'))).toEqual(['pageview /chosen']);
  });
}

test('works without storage', async () => {
  await visitor.addInitScript(
    `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })`,
  );
  await page.goto(`${site.origin}/`);
  await track(page, 'signup');
  await expect.poll(() => brief(collector.events())).toEqual(['pageview /', 'custom / signup']);
  expect(new Set(collector.sessions().map(({ id }) => id)).size).toBe(1);
});
