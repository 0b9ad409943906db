import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { serve } from './servers.ts';
import { setStage } from './stage.ts';
import { APP_ID, brief, counted, drained, SECRET, tag, track } from './visit.ts';

const stage = setStage();
const OTHER_ID = '7a1b2c3d-0000-4000-8000-0123456789ab';
const RIGHT = `data-app-id="${APP_ID}" data-secret-key="${SECRET}"`;
const pageviews = () => stage.of('pageview');

test('the same tag twice, and a call of init besides, count once', async () => {
  stage.html = () => tag(stage.collector.origin).repeat(2);
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.evaluate(
    `sessionAnalytics.init({ appId: '${APP_ID}', secretKey: '${SECRET}' }); sessionAnalytics.track('one')`,
  );
  await stage.page.evaluate(`history.pushState({}, '', '/b')`);
  await drained(stage.page);
  expect(brief(stage.collector.events()).filter((event) => !event.startsWith('engagement'))).toEqual([
    'pageview /a',
    'custom /a one',
    'pageview /b',
  ]);
});

test('a script in the body that is evaluated again after each navigation counts each page once', async () => {
  stage.html = () => `<body>${tag(stage.collector.origin)}</body>`;
  await stage.page.goto(`${stage.site.origin}/a`);
  // As Turbo and Turbolinks do it: a new address, a new body, and its scripts run.
  for (const path of ['/b', '/c', '/d']) {
    await stage.page.evaluate(`(async () => {
      history.pushState({}, '', '${path}');
      const script = document.createElement('script');
      for (const { name, value } of document.querySelector('script').attributes) script.setAttribute(name, value);
      document.body.replaceChildren(script);
      await new Promise((loaded) => script.addEventListener('load', loaded));
    })()`);
    await track(stage.page, 'here');
  }
  await drained(stage.page);
  expect(pageviews()).toEqual(['/a', '/b', '/c', '/d'].map((path) => `pageview ${path}`));
  expect(stage.of('custom')).toEqual(['/b', '/c', '/d'].map((path) => `custom ${path} here`));
});

test('two apps on a page count each event once each', async () => {
  stage.html = () =>
    tag(stage.collector.origin) + tag(stage.collector.origin, '', { appId: OTHER_ID, secretKey: SECRET });
  await stage.page.goto(`${stage.site.origin}/a`);
  await track(stage.page, 'both');
  await drained(stage.page);
  const apps = stage.collector.deliveries.map(({ text, events }) => [
    (JSON.parse(text) as { appId: string }).appId,
    ...brief(events),
  ]);
  const first = (name: string) => apps.filter(([app]) => app === name).flatMap(([, ...events]) => events);
  for (const app of [APP_ID, OTHER_ID]) expect(first(app)).toEqual(['pageview /a', 'custom /a both']);
});

test('a module script starts from its attributes, also with others on the page', async () => {
  const other = tag(stage.collector.origin, '', { appId: OTHER_ID, secretKey: SECRET });
  const module = (text: string) => text.replace('<script defer', '<script type="module"');
  const own = '<script type="module">window.own = 1</script>';
  stage.html = () => own + module(tag(stage.collector.origin)) + module(other);
  await stage.page.goto(`${stage.site.origin}/a`);
  await expect.poll(() => pageviews()).toEqual(['pageview /a', 'pageview /a']);
  await track(stage.page, 'ready');
  await drained(stage.page);
  expect(stage.of('custom')).toHaveLength(2);
  expect(stage.warnings).toEqual([]);
});

test('a module script without an attribute that it needs says so', async () => {
  stage.html = () =>
    `<script type="module" src="${stage.collector.origin}/sdk.js" data-app-id="${APP_ID}"></script>`;
  await stage.page.goto(`${stage.site.origin}/a`);
  await expect
    .poll(() => stage.warnings)
    .toEqual([expect.stringContaining('data-secret-key (secretKey) is not')]);
});

test('crossorigin and integrity', async () => {
  const text = await (
    await fetch(`${stage.collector.origin.replace('stats.test', '127.0.0.1')}/sdk.js`)
  ).text();
  const hash = createHash('sha384').update(text).digest('base64');
  stage.html = () => tag(stage.collector.origin, `crossorigin integrity="sha384-${hash}"`);
  await stage.page.goto(`${stage.site.origin}/a`);
  await counted(stage.collector, 'pageview /a');
});

/** A front server of the site that passes `/stats/…` on to the service, as the lines for nginx do. */
async function firstParty() {
  const service = new URL(stage.collector.origin);
  const cookies: (string | undefined)[] = [];
  const front = await serve('front.test', (req, res) => {
    if (!req.url?.startsWith('/stats/')) {
      res.setHeader('Content-Type', 'text/html');
      res.end(`<!doctype html>${stage.html(req.url ?? '')}`);
      return;
    }
    cookies.push(req.headers.cookie);
    const { method, headers } = req;
    const options = { host: '127.0.0.1', port: service.port, path: req.url.slice(6), method, headers };
    req.pipe(
      request(options, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      }),
    );
  });
  return { front, cookies };
}

test.each(['/stats', 'absolute'])('data-endpoint with a path on the own host (%s)', async (kind) => {
  const { front, cookies } = await firstParty();
  const endpoint = kind === 'absolute' ? `${front.origin}/stats/` : kind;
  stage.html = () => `<script defer src="/stats/sdk.js" ${RIGHT} data-endpoint="${endpoint}"></script>`;
  await stage.visitor.addCookies([{ name: 'session', value: 'secret', url: front.origin }]);
  await stage.page.goto(`${front.origin}/a`);
  await drained(stage.page);
  await track(stage.page, 'left');
  await stage.page.goto('about:blank');
  await counted(stage.collector, 'pageview /a', 'custom /a left');
  expect(stage.warnings).toEqual([]);
  // The script itself is fetched with the site's cookies, which the lines for servers drop. Events are not.
  expect(cookies.slice(1).every((cookie) => cookie === undefined)).toBe(true);
  expect(cookies.length).toBeGreaterThan(2);
  await front.close();
});
