import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { snippetOf, snippetsOf } from './guide.ts';
import { serve } from './servers.ts';
import { setStage } from './stage.ts';
import { APP_ID, counted, drained, SECRET } from './visit.ts';

const stage = setStage();
/** A snippet of the guide, for the stand-in of the service. */
const snippet = (...which: Parameters<typeof snippetOf>): string => forStage(snippetOf(...which));
const forStage = (code: string): string =>
  code.replaceAll('https://stats.example.com', stage.collector.origin).replaceAll('app_secret_…', SECRET);
const custom = () =>
  stage.collector
    .events()
    .flatMap((event) => (event.type === 'custom' ? [[event.name, event.properties]] : []));

test('the page to paste', async () => {
  stage.html = () => snippet('Paste', 'html');
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.click('#buy');
  await counted(stage.collector, 'pageview /a', 'click /a button#buy', 'custom /a purchase');
  expect(stage.warnings).toEqual([]);
});

test('the tag with its integrity', async () => {
  stage.html = () => snippet('Content security policy', 'html');
  await stage.page.goto(`${stage.site.origin}/a`);
  await counted(stage.collector, 'pageview /a');
});

test('the command for the value of a running service', async () => {
  const command = snippetOf('Content security policy', 'sh');
  const service = stage.collector.origin.replace('stats.test', '127.0.0.1');
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    command.replace('https://stats.example.com', service),
  ]);
  expect(snippetOf('Content security policy', 'html')).toContain(`integrity="sha384-${stdout.trim()}"`);
});

test.each(snippetsOf('Frameworks', 'html').map((code, i) => [i, code] as const))(
  'the tag of a framework that is written as HTML (%i) counts each path once, also if its page is loaded anew',
  async (_, code) => {
    stage.html = () => `<html>${forStage(code).replaceAll('="…"', `="${APP_ID}"`)}<body></body></html>`;
    await stage.page.goto(`${stage.site.origin}/a`);
    await stage.page.evaluate(`history.pushState({}, '', '/b')`);
    await stage.page.goto(`${stage.site.origin}/c`);
    await drained(stage.page);
    expect(stage.of('pageview')).toEqual(['/a', '/b', '/c'].map((path) => `pageview ${path}`));
    expect(stage.warnings).toEqual([]);
  },
);

test('another path, and pageviews of one’s own', async () => {
  stage.html = () => snippet('Single-page apps', 'html', 'path.replace');
  await stage.page.goto(`${stage.site.origin}/order/123`);
  await stage.page.evaluate(snippet('Single-page apps', 'js'));
  await drained(stage.page);
  expect(stage.of('pageview')).toEqual(
    ['/order/:id', '/order/:id', '/order/:id'].map((path) => `pageview ${path}`),
  );
});

test('rel=canonical: of pages that load, of routes whose link comes late, and of pages that come back', async () => {
  const link = (path: string) => `<link rel="canonical" href="https://shop.example${path}">`;
  // Before the link or behind it.
  stage.html = (path) => {
    const code = snippet('Single-page apps', 'html', 'canonical');
    return path === '/shoes/red' ? code + link('/shoes') : link('/about') + code;
  };
  const seen = (...paths: readonly string[]) =>
    expect.poll(() => stage.of('pageview')).toEqual(paths.map((path) => `pageview ${path}`));
  await stage.page.goto(`${stage.site.origin}/shoes/red`);
  await seen('/shoes');
  const route = (path: string, work: string) =>
    stage.page.evaluate(`history.pushState({}, '', '${path}'); setTimeout(() => { ${work} }, 300)`);
  const find = `document.querySelector('link[rel=canonical]')`;
  await route('/order/123', `${find}.href = '/order/id'`);
  await seen('/shoes', '/order/id');
  await route('/order/124', `${find}.href = '/order/id?tab=1'`);
  await route(
    '/hats/blue',
    `${find}.remove(); setTimeout(() => document.head.insertAdjacentHTML('beforeend', '${link('/hats')}'))`,
  );
  await seen('/shoes', '/order/id', '/hats');
  await stage.page.evaluate(`sessionAnalytics.track('here');
    addEventListener('pageshow', (event) => { window.cached = event.persisted })`);
  await stage.page.goto(`${stage.site.origin}/about?x=1`);
  await seen('/shoes', '/order/id', '/hats', '/about');
  await stage.page.evaluate(`setTimeout(() => history.back())`);
  await expect.poll(() => stage.page.evaluate('window.cached').catch(() => null)).toBe(true);
  await seen('/shoes', '/order/id', '/hats', '/about', '/hats');
  expect(stage.of('custom')).toEqual(['custom /hats here']);
});

test('consent: nothing before it, nothing after it was withdrawn', async () => {
  stage.html = () => snippet('Consent', 'html');
  const keys = () => stage.page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('sa:'))`);
  await stage.page.goto(`${stage.site.origin}/before`);
  expect(await keys()).toEqual([]);
  await stage.page.click('#yes');
  await drained(stage.page);
  await stage.page.goto(`${stage.site.origin}/with`);
  await drained(stage.page);
  await stage.page.click('#no');
  expect(await keys()).toEqual(['sa:off']);
  await stage.page.goto(`${stage.site.origin}/after`);
  expect(stage.of('pageview')).toEqual(['pageview /before', 'pageview /with']);
  await stage.page.click('#yes');
  await drained(stage.page);
  expect(stage.of('pageview').at(-1)).toBe('pageview /after');
});

test('properties', async () => {
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.evaluate(snippet('Events and properties', 'js'));
  await drained(stage.page);
  expect(custom()).toEqual([['signup', { plan: 'pro', seats: 3, trial: false }]]);
});

test('the Worker passes the path, the body and the address on, and no cookies', async () => {
  const asked: unknown[] = [];
  const service = await serve('127.0.0.1', (req, res) => {
    let body = '';
    req.on('data', (bytes: Buffer) => {
      body += bytes;
    });
    req.on('end', () => {
      const { 'x-forwarded-for': address, cookie, origin } = req.headers;
      asked.push([req.method, req.url, address, cookie, origin, body]);
      res.end('answer');
    });
  });
  const code = snippet('First-party path', 'js', 'fetch(request)').replaceAll(
    stage.collector.origin,
    service.origin,
  );
  const { default: worker } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    default: { fetch(request: Request): Promise<Response> };
  };
  const request = new Request('https://shop.example/stats/sdk/v1/events?x=1', {
    method: 'POST',
    body: '{}',
    headers: { Cookie: 'a=b', 'CF-Connecting-IP': '203.0.113.7', Origin: 'https://shop.example' },
  });
  const answer = await worker.fetch(request);
  expect([answer.status, await answer.text()]).toEqual([200, 'answer']);
  expect(asked).toEqual([
    ['POST', '/sdk/v1/events?x=1', '203.0.113.7', undefined, 'https://shop.example', '{}'],
  ]);
  await service.close();
});
