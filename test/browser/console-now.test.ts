import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { Realtime } from '../../src/client/index.ts';
import { formatOf } from '../../src/console/i18n/format.ts';
import type { SessionSeed } from '../../src/testing/types.ts';
import { eventually, gateTo, panel, rowsOf } from './analytics.ts';
import { withAnalytics } from './analytics-page.ts';
import { openConsole } from './console.ts';

const MINUTE_MS = 60_000;
const stage = withAnalytics();
const format = formatOf('en-GB');

/** A visit that began so many minutes ago. */
function visit(minutes: number, path: string, referrer = ''): SessionSeed {
  const startedAt = new Date(stage.service.clock.now().getTime() - minutes * MINUTE_MS).toISOString();
  const events = [{ type: 'pageview' as const, timestamp: startedAt, path }];
  return { id: randomUUID(), visitorId: randomUUID(), startedAt, context: { referrer }, events };
}

/** More than the made-up visitors, so that these rows come first. */
const MANY = 40;
beforeAll(() =>
  stage.service.record(
    Array.from({ length: MANY }, () => [
      visit(1, '/now'),
      visit(2, '/now', 'https://www.google.com/'),
      visit(12, '/before'),
      visit(14, '/before'),
    ]).flat(),
  ),
);

/** Scrolls to the panel, which asks when it is seen. */
async function seeNow(page: Page): Promise<void> {
  await panel(page, 'Now').scrollIntoViewIfNeeded();
  await page.locator('.now').waitFor();
}

const figure = async (page: Page, name: string): Promise<string> =>
  (await page.locator(`.now [data-figure=${name}] dd`).textContent()) ?? '';

test('shows what the service says of the last 5 and 30 minutes, whatever the range is', async () => {
  const visitor = await stage.analytics('?range=yesterday');
  const { page } = visitor;
  await seeNow(page);
  const now = await stage.answer<Realtime>(visitor, '/sessions/realtime');
  expect(now.visitors).toBeGreaterThanOrEqual(4 * MANY);
  await eventually(() => figure(page, 'visitorsNow')).toBe(format.number(now.visitors));
  await eventually(() => figure(page, 'activeVisitors')).toBe(format.number(now.activeVisitors));
  const rows = await rowsOf(page, 'Now');
  expect(rows.map(([name]) => name)).toEqual(expect.arrayContaining(['/now', '/before', 'Search', 'Direct']));
  await panel(page, 'Now').getByRole('button', { name: 'Table' }).click();
  await eventually(async () => (await rowsOf(page, 'Now')).length).toBe(30);
  const views = (await rowsOf(page, 'Now')).map(([, , each]) => Number(each));
  expect(views.reduce((sum, each) => sum + each, 0)).toBe(now.pageviews);
});

test('a new visit appears by itself, in a range that is over', async () => {
  const { page } = await stage.analytics('?range=yesterday');
  await seeNow(page);
  const before = Number(await figure(page, 'visitorsNow'));
  // Visitors of before may leave the last minutes meanwhile.
  await stage.service.record(Array.from({ length: MANY }, () => visit(0, '/fresh')));
  await eventually(async () => Number(await figure(page, 'visitorsNow'))).toBeGreaterThan(before);
});

test('follows the filters, and a click on its rows sets them', async () => {
  const visitor = await stage.analytics('?range=7d');
  const { page, requests } = visitor;
  await seeNow(page);
  await page.locator('.now').getByRole('button', { name: 'Search' }).click();
  await eventually(() => new URL(page.url()).searchParams.get('segment')).toBe('channel==search');
  await eventually(() =>
    requests.some((url) => url.includes('/realtime') && url.includes('segment=channel%3D%3Dsearch')),
  ).toBe(true);
  const shown = async () => (await rowsOf(page, 'Now')).map(([name]) => name);
  await seeNow(page);
  // The rows of all visits, then none, then those that match. The visits that the demo makes up may be among them.
  await eventually(async () => {
    const names = await shown();
    return ['/now', 'Search', 'Direct', '/before'].map((name) => names.includes(name));
  }).toEqual([true, true, false, false]);
});

test('the service is gone: the figures are said to be old, and it goes on by itself', async () => {
  const gate = await gateTo(stage.service.url);
  try {
    const { context, page: first } = await stage.analytics('?range=yesterday');
    const cookies = await context.cookies();
    await first.close();
    const visitor = stage.closeLater(await openConsole(stage.browser, { url: gate.url }));
    await visitor.context.addCookies(cookies);
    await visitor.visit(`/apps/${stage.service.app}?range=yesterday`);
    const { page } = visitor;
    await seeNow(page);
    gate.hang();
    await panel(page, 'Now')
      .getByText(/^No answer from the service\. These are the figures of \d\d:\d\d\.$/)
      .waitFor();
    expect(await page.locator('.now').getAttribute('data-old')).toBe('true');
    await gate.go();
    await eventually(() => page.locator('.now[data-old=false]').count()).toBe(1);
  } finally {
    await gate.stop();
  }
});

test('nobody fits the filters: it says so', async () => {
  await stage.service.record([visit(2 * 24 * 60, '/two-days-ago')]);
  const { page } = await stage.analytics('?range=7d&segment=page==/two-days-ago');
  await seeNow(page);
  await page.locator('.now').getByText('Nobody in the last 30 minutes.').waitFor();
});

test('more pages than are shown: the button stands below its list', async () => {
  await stage.service.record([...'abcdef'].map((letter) => visit(3, `/${letter}`)));
  const { page } = await stage.analytics('?range=yesterday');
  await seeNow(page);
  // The list of channels may have a button, too: the visits that the demo makes up have many.
  const pages = page
    .locator('.now > div')
    .filter({ has: page.locator('table') })
    .first();
  const below = await pages.getByRole('button', { name: /^Show \d+ more$/ }).boundingBox();
  const list = await pages.locator('table').boundingBox();
  if (below === null || list === null) throw new Error('They are not shown.');
  expect(below.y).toBeGreaterThanOrEqual(list.y + list.height - 1);
  expect(Math.abs(below.x - list.x)).toBeLessThan(list.width / 2);
});
