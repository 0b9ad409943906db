import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Collector, startCollector } from './collector.ts';
import { type Firefox, openFirefox } from './firefox.ts';
import { type Site, serve } from './servers.ts';
import { brief, counted, tag } from './visit.ts';

let firefox: Firefox;
let collector: Collector;
let site: Site;
let elsewhere: Site;
let html: string;

beforeAll(async () => {
  firefox = await openFirefox();
});
afterAll(() => firefox?.close());
beforeEach(async () => {
  collector = await startCollector();
  html = tag(collector.origin);
  // Each test has a port of its own, hence storage of its own.
  const page = () => `<!doctype html><title>Shop</title>${html}`;
  site = await serve('shop.test', (_req, res) => {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end(page());
  });
  elsewhere = await serve('elsewhere.test', (_req, res) => {
    res.setHeader('Content-Type', 'text/html');
    res.end('<!doctype html>elsewhere');
  });
});
afterEach(async () => {
  await firefox.goto('about:blank');
  await site.close();
  await elsewhere.close();
  await collector.close();
  expect(collector.malformed).toEqual([]);
});

const of = (type: string) => brief(collector.events()).filter((event) => event.startsWith(type));
const pageviews = (...paths: readonly string[]) =>
  expect.poll(() => of('pageview')).toEqual(paths.map((path) => `pageview ${path}`));

test('once per page, also with the tag twice and as a module', async () => {
  html = tag(collector.origin).repeat(2) + tag(collector.origin).replace('defer', 'type="module"');
  await firefox.goto(`${site.origin}/a`);
  await firefox.run(`sessionAnalytics.track('ready', { plan: 'pro', list: [] })`);
  await counted(collector, 'custom /a ready');
  expect(of('pageview')).toEqual(['pageview /a']);
  const [custom] = collector.events().filter(({ type }) => type === 'custom');
  expect(custom).toMatchObject({ properties: { plan: 'pro' } });
});

test('a router with its own pushState, hash routes, and the way back', async () => {
  html = `<script>window.early = history.pushState.bind(history)</script>${tag(collector.origin, 'data-hash')}`;
  await firefox.goto(`${site.origin}/a`);
  await firefox.run(`early({}, '', '/b')`);
  await pageviews('/a', '/b');
  await firefox.run(`location.hash = '/orders?id=7'`);
  await pageviews('/a', '/b', '/b/orders');
  await firefox.run('history.back()');
  await pageviews('/a', '/b', '/b/orders', '/b');
});

test('leaving the site: the last click arrives, with what the link names', async () => {
  html = `${tag(collector.origin, 'data-outbound-links')}<a id="out" href="${elsewhere.origin}/x?token=1">Out</a>`;
  await firefox.goto(`${site.origin}/a`);
  await firefox.click('#out');
  await counted(collector, 'pageview /a', 'click /a a#out', 'custom /a Outbound Link: Click');
});

test('without sendBeacon', async () => {
  html = `<script>delete Navigator.prototype.sendBeacon</script>${tag(collector.origin)}`;
  await firefox.goto(`${site.origin}/a`);
  await firefox.run(`sessionAnalytics.track('left')`);
  await firefox.goto(`${elsewhere.origin}/`);
  await counted(collector, 'pageview /a', 'custom /a left');
});

test('the back-forward cache: a return counts once', async () => {
  await firefox.goto(`${site.origin}/a`);
  await pageviews('/a');
  await firefox.goto(`${site.origin}/b`);
  await pageviews('/a', '/b');
  await firefox.back();
  await pageviews('/a', '/b', '/a');
});

test('errors of any kind have a text', async () => {
  await firefox.goto(`${site.origin}/a`);
  await firefox.run(`const run = (text) => document.body.append(
      Object.assign(document.createElement('script'), { textContent: text }));
    run("Promise.reject({ code: 404 })");
    run("setTimeout(() => { throw { kind: 'odd' } })");
    run("Promise.reject()");`);
  await counted(
    collector,
    'error /a Object {"code":404}',
    'error /a Object {"kind":"odd"}',
    'error /a Rejected without a reason',
  );
});

test('?analytics=off', async () => {
  await firefox.goto(`${site.origin}/a?analytics=off`);
  expect(await firefox.run('return Object.keys(localStorage)')).toEqual(['sa:off']);
  await firefox.goto(`${site.origin}/b`);
  await firefox.goto(`${site.origin}/c?analytics=on`);
  await pageviews('/c');
});
