import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openAlone } from './chromium.ts';
import { setStage } from './stage.ts';
import { APP_ID, drained, SECRET, tag, track } from './visit.ts';

const stage = setStage();
const pageviews = () => stage.of('pageview').map((event) => event.slice('pageview '.length));
/** Waits until the SDK has seen the last address. Browsers without the Navigation API look several times a second. */
const seen = (...paths: readonly string[]) => expect.poll(pageviews).toEqual(paths);
const go = (page: Page, path: string) => page.evaluate(`history.pushState({}, '', '${path}')`);

const BROWSERS = {
  'with the Navigation API': '',
  'without it': 'delete window.navigation; delete Window.prototype.navigation',
};
for (const [name, script] of Object.entries(BROWSERS)) {
  test(`${name}: a router that took pushState before the SDK came`, async () => {
    await stage.visitor.addInitScript(`${script}; window.early = history.pushState.bind(history)`);
    await stage.page.goto(`${stage.site.origin}/a`);
    expect(await stage.page.evaluate('typeof navigation')).toBe(script === '' ? 'object' : 'undefined');
    for (const path of ['/b', '/c']) {
      await stage.page.evaluate(`window.early({}, '', '${path}?q=1#part')`);
      await seen('/a', ...(path === '/b' ? ['/b'] : ['/b', '/c']));
    }
    await stage.page.evaluate('history.back()');
    await seen('/a', '/b', '/c', '/b');
  });

  test(`${name}: hash routes`, async () => {
    await stage.visitor.addInitScript(script);
    stage.html = () => `${tag(stage.collector.origin, 'data-hash')}<a href="#/orders?id=1">Orders</a>`;
    await stage.page.goto(`${stage.site.origin}/shop/#/home`);
    await stage.page.click('a');
    await seen('/shop/home', '/shop/orders');
    await stage.page.evaluate(`location.hash = '/orders?id=2'`);
    await stage.page.evaluate(`location.hash = '!/cart'`);
    await seen('/shop/home', '/shop/orders', '/shop/cart');
    await stage.page.evaluate('history.go(-3)');
    await seen('/shop/home', '/shop/orders', '/shop/cart', '/shop/home');
  });
}

test('the methods of the history stay the page’s own', async () => {
  await stage.page.goto(`${stage.site.origin}/a`);
  expect(await stage.page.evaluate(`String(history.pushState)`)).toContain('[native code]');
});

test('a hash that is no route is no page, and never sent', async () => {
  stage.html = () => tag(stage.collector.origin, 'data-hash');
  await stage.page.goto(`${stage.site.origin}/app#access_token=secret`);
  await stage.page.evaluate(`location.hash = 'part'`);
  await track(stage.page, 'here');
  await drained(stage.page);
  expect(pageviews()).toEqual(['/app']);
  expect(stage.collector.deliveries.map(({ text }) => text).join()).not.toContain('access_token');
});

test('manual: only pageview counts, with the path that it is given', async () => {
  stage.html = () => tag(stage.collector.origin, 'data-manual');
  await stage.page.goto(`${stage.site.origin}/order/123`);
  await track(stage.page, 'before');
  await go(stage.page, '/order/124');
  await stage.page.evaluate(`sessionAnalytics.pageview('/order/:id?x=1')`);
  await track(stage.page, 'after');
  await stage.page.evaluate(`sessionAnalytics.pageview()`);
  await stage.page.evaluate(`sessionAnalytics.pageview('no-slash')`);
  await drained(stage.page);
  expect(pageviews()).toEqual(['/order/:id', '/order/124', '/no-slash']);
  expect(stage.of('custom')).toEqual(['custom /order/123 before', 'custom /order/:id after']);
});

test('another path for some pages, by a function', async () => {
  stage.html = () => `<script src="${stage.collector.origin}/sdk.js"></script>`;
  await stage.page.goto(`${stage.site.origin}/order/123`);
  await stage.page.evaluate(`sessionAnalytics.init({
    appId: '${APP_ID}', secretKey: '${SECRET}', path: (path) => path.replace(/\\d+/, ':id') })`);
  await go(stage.page, '/order/124');
  await go(stage.page, '/order/124?sort=1');
  await go(stage.page, '/about');
  await drained(stage.page);
  expect(pageviews()).toEqual(['/order/:id', '/order/:id', '/about']);
});

test('a function of the page that throws is told, and breaks nothing', async () => {
  stage.html = () => `<script src="${stage.collector.origin}/sdk.js"></script>`;
  await stage.page.goto(`${stage.site.origin}/a`);
  const returned = await stage.page.evaluate(`sessionAnalytics.init({
    appId: '${APP_ID}', secretKey: '${SECRET}', path() { throw new Error('mine') } }); 'on'`);
  expect(returned).toBe('on');
  expect(stage.warnings).toEqual(['session-analytics: Error: mine']);
});

test('a prerendered page counts when it is shown, once, and not at all if it is never shown', async () => {
  const prerendered = new Set<string>();
  const go = { type: 'text/plain', text: 'no' };
  stage.files.set('/go', go);
  stage.html = (path) => {
    const rules = '{"prerender": [{ "urls": ["/b", "/c"], "eagerness": "immediate" }]}';
    const first = `<script type="speculationrules">${rules}</script><script>setInterval(async () => {
      if (await (await fetch('/go')).text() === 'yes') location.href = '/b'; }, 200)</script>`;
    const own = `<script>addEventListener('load', () => sessionAnalytics.track('loaded', { early: document.prerendering }));
      fetch('/in-advance' + location.pathname + document.prerendering)</script>`;
    if (path.startsWith('/in-advance')) prerendered.add(path);
    return tag(stage.collector.origin) + (path === '/a' ? first : own);
  };
  const close = await openAlone(`${stage.site.origin}/a`);
  await expect.poll(() => prerendered).toEqual(new Set(['/in-advance/btrue', '/in-advance/ctrue']));
  await seen('/a');
  stage.files.set('/go', { ...go, text: 'yes' });
  await expect.poll(() => stage.of('custom')).toEqual(['custom /b loaded']);
  expect(pageviews()).toEqual(['/a', '/b']);
  expect(stage.collector.events().find(({ type }) => type === 'custom')).toMatchObject({
    properties: { early: true },
  });
  await close();
});

test('the back-forward cache: each return counts once', async () => {
  await stage.page.goto(`${stage.site.origin}/a`);
  await drained(stage.page);
  for (const _ of [1, 2]) {
    await stage.page.evaluate(`addEventListener('pageshow', (event) => { window.cached = event.persisted })`);
    await stage.page.goto(`${stage.site.origin}/b`);
    await drained(stage.page);
    await stage.page.evaluate(`setTimeout(() => history.back())`);
    await expect.poll(() => stage.page.evaluate('window.cached').catch(() => null)).toBe(true);
    await drained(stage.page);
  }
  expect(pageviews()).toEqual(['/a', '/b', '/a', '/b', '/a']);
});

test('manual: a return from the back-forward cache counts only if the page says so', async () => {
  stage.html = () => tag(stage.collector.origin, 'data-manual');
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.evaluate(`sessionAnalytics.pageview();
    addEventListener('pageshow', (event) => { window.cached = event.persisted })`);
  await drained(stage.page);
  await stage.page.goto(`${stage.site.origin}/b`);
  await stage.page.evaluate(`setTimeout(() => history.back())`);
  await expect.poll(() => stage.page.evaluate('window.cached').catch(() => null)).toBe(true);
  await track(stage.page, 'back');
  await drained(stage.page);
  expect(stage.of('custom')).toEqual(['custom /a back']);
  expect(pageviews()).toEqual(['/a']);
  await stage.page.evaluate('sessionAnalytics.pageview()');
  await drained(stage.page);
  expect(pageviews()).toEqual(['/a', '/a']);
});
