import type { ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { serve } from './servers.ts';
import { setStage } from './stage.ts';
import { APP_ID, drained, SECRET, show, tag, track } from './visit.ts';

const stage = setStage();
const OTHER_ID = '7a1b2c3d-0000-4000-8000-0123456789ab';
const kept = (page = stage.page) => page.evaluate('Object.keys(localStorage)');
const off = () => stage.page.evaluate('sessionAnalytics.optOut()');
/** Everything that a person and the browser may do on a page, and half an hour. */
async function act(page: Page): Promise<void> {
  await track(page, 'ignored');
  await page.click('button');
  await page.evaluate(`void Promise.reject(new Error('ignored')); history.pushState({}, '', '/moved')`);
  await page.evaluate(`dispatchEvent(new Event('online'))`);
  await show(page, 'hidden');
  await show(page, 'visible');
  await page.clock.runFor('30:00');
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`);
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await page.clock.runFor('30:00');
}

/** What a service answers: a status, or nothing. */
const ANSWERS = [null, 200, 401, 503];
test.each(ANSWERS)(
  'optOut while a batch is under way (answer: %s): nothing is sent or stored after it',
  async (status) => {
    const held: ServerResponse[] = [];
    const service = await serve('slow.test', (_req, res) => held.push(res));
    stage.html = () =>
      `${tag(stage.collector.origin, `data-endpoint="${service.origin}"`)}<button>Buy</button>`;
    const { page } = stage;
    await page.clock.install();
    await page.goto(`${stage.site.origin}/a`);
    await page.clock.runFor(3_000);
    await expect.poll(() => held.length).toBe(1);
    await track(page, 'unsent');
    await off();
    expect(await kept()).toEqual(['sa:off']);
    const done = status === null ? page.waitForEvent('requestfailed') : page.waitForEvent('requestfinished');
    for (const res of held) {
      if (status === null) res.destroy();
      else res.writeHead(status, { 'Access-Control-Allow-Origin': '*', 'Retry-After': '5' }).end('{}');
    }
    await done;
    await act(page);
    expect(await kept()).toEqual(['sa:off']);
    expect(held).toHaveLength(1);
    await service.close();
  },
);

const SWITCHES = {
  optOut: off,
  '?analytics=off': () => stage.page.goto(`${stage.site.origin}/own?analytics=off`),
};
for (const [name, turnOff] of Object.entries(SWITCHES)) {
  test(`${name} in one tab stops the others that are open`, async () => {
    stage.html = () => `${tag(stage.collector.origin)}<button>Buy</button>`;
    await stage.page.goto(`${stage.site.origin}/a`);
    const other = await stage.visitor.newPage();
    await other.clock.install();
    await other.goto(`${stage.site.origin}/b`);
    await other.clock.runFor(3_000);
    await drained(stage.page);
    const before = stage.collector.deliveries.length;
    await track(other, 'unsent');
    await other.evaluate(`window.told = new Promise((resolve) => {
      addEventListener('storage', ({ key, newValue }) => key === 'sa:off' && newValue && resolve()) }); 'listens'`);
    await turnOff();
    await other.evaluate('told');
    await act(other);
    expect(await kept(other)).toEqual(['sa:off']);
    const later = stage.collector.deliveries.slice(before).flatMap(({ events }) => events);
    // The first tab says how long it was looked at, when it is left.
    expect(later.filter(({ path, type }) => path !== '/a' || type !== 'engagement')).toEqual([]);
  });
}

test('a page that comes back from the back-forward cache after optOut stays silent', async () => {
  await stage.page.goto(`${stage.site.origin}/a`);
  await drained(stage.page);
  await stage.page.evaluate(`addEventListener('pageshow', (event) => { window.cached = event.persisted })`);
  await stage.page.goto(`${stage.site.origin}/b`);
  await drained(stage.page);
  await off();
  await stage.page.evaluate(`setTimeout(() => history.back())`);
  await expect.poll(() => stage.page.evaluate('window.cached').catch(() => null)).toBe(true);
  await track(stage.page, 'ignored');
  await stage.page.goto('about:blank');
  await stage.page.goto(`${stage.site.origin}/c`);
  expect(await kept()).toEqual(['sa:off']);
  expect(stage.of('pageview')).toEqual(['pageview /a', 'pageview /b']);
  expect(stage.of('custom')).toEqual([]);
});

test('the switch fits in a full storage, and what other apps of the site keep is removed, too', async () => {
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.evaluate(
    `sessionAnalytics.init({ appId: '${OTHER_ID}', secretKey: '${SECRET}', endpoint: '${stage.collector.origin}' })`,
  );
  await drained(stage.page);
  await stage.page.reload();
  await stage.page.waitForFunction('self.sessionAnalytics');
  expect(((await kept()) as string[]).some((name) => name.startsWith(`sa:${OTHER_ID}`))).toBe(true);
  await stage.page.evaluate(`for (let size = 2 ** 22; size >= 1; size /= 2)
    try { for (let i = 0; ; i++) localStorage.setItem('fill' + size + '-' + i, 'x'.repeat(size)) } catch {}`);
  await off();
  expect(((await kept()) as string[]).filter((name) => !name.startsWith('fill'))).toEqual(['sa:off']);
});

test.each([
  ['?analytics=off', true],
  ['?a=1&analytics=off&b=2', true],
  ['?analytics=off#part', true],
  ['?analytics=off-season', false],
  ['?analytics=office', false],
  ['?analytics=off%20season', false],
  ['?myanalytics=off', false],
  ['?my-analytics=off', false],
  ['?next=/a?analytics=off', false],
  ['?analytics=', false],
  ['#analytics=off', false],
])('%s switches this browser off: %s', async (query, silent) => {
  await stage.page.goto(`${stage.site.origin}/a${query}`);
  await stage.page.waitForFunction('self.sessionAnalytics');
  const names = (await kept()) as string[];
  expect(names.includes('sa:off')).toBe(silent);
  expect(names.some((name) => name.startsWith(`sa:${APP_ID}`))).toBe(!silent);
});
