import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KpiComparison } from '../../src/client/index.ts';
import { formatOf } from '../../src/console/i18n/format.ts';
import { withService } from '../http/operations.ts';
import { eventually, type Gate, gateTo, panel, rowsOf, textOf } from './analytics.ts';
import { openBrowser } from './chromium.ts';
import { openConsole, signedIn, type Viewing, type Visitor } from './console.ts';
import { demoVisits } from './demo-visits.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DAYS = 10;
const format = formatOf('en-GB');
const KPIS = '/sessions/overview/kpis';

const service = withService();
let browser: Browser;
let cookies: Awaited<ReturnType<Visitor['context']['cookies']>> = [];
const open: Visitor[] = [];
const gates: Gate[] = [];
beforeAll(async () => {
  browser = await openBrowser();
  const now = service().clock.now().getTime();
  await service().record(demoVisits(now, DAYS));
  const { context } = await signedIn(browser, service(), service().account);
  cookies = await context.cookies();
  await context.close();
});
afterAll(() => browser.close());
afterEach(async () => {
  for (const { context } of open.splice(0)) await context.close();
  for (const gate of gates.splice(0)) await gate.stop();
});

/** Opens the app's analytics as an owner; `url` is the way to the service. */
async function analytics(search: string, url = service().url, viewing: Viewing = {}): Promise<Visitor> {
  const visitor = await openConsole(browser, { url }, viewing);
  open.push(visitor);
  await visitor.context.addCookies(cookies);
  await visitor.visit(`/apps/${service().app}${search}`);
  await visitor.page.locator('.tile-value').first().waitFor();
  return visitor;
}

async function gate(): Promise<Gate> {
  const made = await gateTo(service().url);
  gates.push(made);
  return made;
}

const stateOf = (page: Page): Promise<string | null> => page.locator('.live').getAttribute('data-state');
const sessionsOf = (page: Page): Promise<string> => textOf(page, '[data-figure=sessions] .tile-value');
const kpis = async (from: number, to: number): Promise<KpiComparison['current']> => {
  const [first, last] = [from, to].map((at) => new Date(at).toISOString());
  const { json } = await service().ask(`/api/v1${KPIS}?appId=${service().app}&from=${first}&to=${last}`);
  return (json as KpiComparison).current;
};
/** The bounds that a page asked for key figures of, oldest question first. */
const boundsAsked = ({ requests }: Visitor): [from: number, to: number][] =>
  requests
    .filter((url) => url.includes(KPIS))
    .map((url) => {
      const { searchParams } = new URL(url);
      return [Date.parse(searchParams.get('from') ?? ''), Date.parse(searchParams.get('to') ?? '')];
    });
const today = (): number => Math.floor(service().clock.now().getTime() / DAY_MS) * DAY_MS;

describe('the figures are those of the range that is named, and the mark tells the truth', () => {
  test('the service is stopped: not live, no figures under another name, and all is back by itself', async () => {
    const way = await gate();
    const { page } = await analytics('?range=7d&zone=utc', way.url);
    await eventually(() => stateOf(page)).toBe('live');
    await way.stop();
    await eventually(() => stateOf(page)).toBe('reconnecting');
    expect(await textOf(page, '.live')).toMatch(/^Reconnecting\s*Figures of \d\d:\d\d/);
    // The figures of this range stay, those of another one are not shown under its name.
    expect(await page.locator('.tile-value').count()).toBe(8);
    await page.getByLabel('Range').selectOption('yesterday');
    await eventually(() => page.locator('.tile-value').count()).toBe(0);
    expect(await page.locator('.panel tbody tr').count()).toBe(0);
    await way.go();
    const day = today() - DAY_MS;
    const { sessions } = await kpis(day, day + DAY_MS - 1);
    await eventually(() => sessionsOf(page)).toBe(format.number(sessions));
    await eventually(() => stateOf(page)).toBe('past');
  });

  test('the service hangs without a word: not live either', async () => {
    const way = await gate();
    const { page } = await analytics('?range=today&zone=utc', way.url);
    await eventually(() => stateOf(page)).toBe('live');
    way.hang();
    await eventually(() => stateOf(page)).toBe('reconnecting');
    await way.go();
    await eventually(() => stateOf(page)).toBe('live');
  });

  test('the network of the browser is away: offline', async () => {
    const { page, context } = await analytics('?range=today&zone=utc');
    await eventually(() => stateOf(page)).toBe('live');
    await context.setOffline(true);
    await eventually(() => stateOf(page)).toBe('offline');
    await context.setOffline(false);
    await eventually(() => stateOf(page)).toBe('live');
  });

  test('slow answers: the range before leaves at once, and nothing is called live meanwhile', async () => {
    const { page } = await analytics('?range=7d&zone=utc');
    await eventually(() => stateOf(page)).toBe('live');
    await eventually(async () => (await rowsOf(page, 'Pages')).length).toBe(10);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/v1/sessions/**', async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await page.getByLabel('Range').selectOption('today');
    await eventually(() => page.locator('.tile-value').count()).toBe(0);
    expect(await rowsOf(page, 'Pages')).toEqual([]);
    await eventually(() => stateOf(page)).toBe('reconnecting');
    release();
    await eventually(() => stateOf(page)).toBe('live');
    const { sessions } = await kpis(today(), today() + DAY_MS - 1);
    expect(await sessionsOf(page)).toBe(format.number(sessions));
  });
});

describe('comparisons are fair', () => {
  /** What a change of sessions says, as the page writes it. */
  const written = (now: number, before: number): string => {
    const percent = ((now - before) / before) * 100;
    return format.number(percent, {
      style: 'unit',
      unit: 'percent',
      maximumFractionDigits: Math.abs(percent) < 100 ? 1 : 0,
      signDisplay: 'exceptZero',
    });
  };

  test('a range that is not over is compared with as much of the one before', async () => {
    const visitor = await analytics('?range=today&zone=utc');
    const { page } = visitor;
    await page.locator('[data-figure=sessions] .change').waitFor();
    const [from, to] = boundsAsked(visitor).find(([first]) => first < today()) ?? [0, 0];
    expect(from).toBe(today() - DAY_MS);
    // To the minute in which the page asked.
    expect((to + 1) % MINUTE_MS).toBe(0);
    expect(to).toBeLessThanOrEqual(service().clock.now().getTime() - DAY_MS + MINUTE_MS);
    expect(to).toBeLessThan(today());
    await eventually(async () => {
      const asked = boundsAsked(visitor).findLast(([first]) => first === from) ?? [0, 0];
      const [now, then] = [await kpis(today(), today() + DAY_MS - 1), await kpis(...asked)];
      return (await textOf(page, '[data-figure=sessions] .change')) === written(now.sessions, then.sessions);
    }).toBe(true);
    expect(await textOf(page, '.period')).toContain('as much of the other period counts');
    // Where the day runs, the line is dotted. The first hour of a day is a point, and no line.
    await page.getByLabel('Range').selectOption('7d');
    await page.locator('[data-figure=sessions] .line-partial').waitFor({ state: 'attached' });
  });

  test('with the same weekdays, with a period of one’s own, and with nothing', async () => {
    const visitor = await analytics('?range=yesterday&zone=utc');
    const { page } = visitor;
    const day = today() - DAY_MS;
    await page.getByLabel('Compare with').selectOption('The same weekdays');
    await eventually(() => boundsAsked(visitor).some(([from]) => from === day - 7 * DAY_MS)).toBe(true);
    const [now, then] = [
      await kpis(day, day + DAY_MS - 1),
      await kpis(day - 7 * DAY_MS, day - 6 * DAY_MS - 1),
    ];
    await eventually(() => textOf(page, '[data-figure=sessions] .change')).toBe(
      written(now.sessions, then.sessions),
    );
    await page.getByLabel('Compare with').selectOption('From … to …');
    const date = new Date(day - 3 * DAY_MS).toISOString().slice(0, 10);
    await page.getByLabel('Compared: From').fill(`${date}T00:00`);
    await page.getByLabel('Compared: To, inclusive').fill(`${date}T11:59`);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const half = await kpis(day - 3 * DAY_MS, day - 2.5 * DAY_MS - 1);
    await eventually(() => textOf(page, '[data-figure=sessions] .change')).toBe(
      written(now.sessions, half.sessions),
    );
    expect(new URL(page.url()).search).toContain(
      `against=custom&against-from=${date}T00:00&against-to=${date}T11:59`,
    );
    await page.getByLabel('Compare with').selectOption('Nothing');
    await eventually(() => page.locator('.tile .change').count()).toBe(0);
  });

  test('before the first data nothing is compared, and nothing is zero', async () => {
    const { page } = await analytics('?range=28d&zone=utc&compare=1');
    const { json } = await service().ask(`/api/v1/sessions/data-bounds?appId=${service().app}`);
    const { oldest } = json as { readonly oldest: string };
    await page.getByText(`No data before ${format.date(oldest)}, so there are no changes.`).waitFor();
    expect(await page.locator('.tile .change').count()).toBe(0);
    await page.locator('.tile').first().getByText('No data before').waitFor();
    // The whole other period is before them: there are no values beside those of this one.
    await eventually(() => page.getByText('Compared:', { exact: false }).count()).toBe(0);
    expect(await page.getByRole('columnheader', { name: 'Before' }).count()).toBe(0);
    await panel(page, 'Growth').getByRole('button', { name: 'Table' }).click();
    await eventually(async () => (await rowsOf(page, 'Growth')).length).toBe(28);
    const rows = await rowsOf(page, 'Growth');
    const firstDay = 28 - 1 - Math.floor((today() - Date.parse(oldest.slice(0, 10))) / DAY_MS);
    expect(rows.map(([, sessions]) => sessions === '–')).toEqual(rows.map((_, i) => i < firstDay));
  });
});

test('a click on a row filters everything on the page, its exports and the calls that it shows', async () => {
  const visitor = await analytics('?range=yesterday&zone=utc');
  const { page, requests } = visitor;
  const whole = (await kpis(today() - DAY_MS, today() - 1)).sessions;
  const technology = panel(page, 'Technology');
  await technology.scrollIntoViewIfNeeded();
  await technology.getByRole('button', { name: 'Chrome', exact: true }).click();
  await eventually(() => new URL(page.url()).search).toBe(
    '?range=yesterday&zone=utc&segment=browser==Chrome',
  );
  await eventually(async () => (await rowsOf(page, 'Technology')).map(([name]) => name)).toEqual(['Chrome']);
  const some = Number((await sessionsOf(page)).replace(',', ''));
  expect(some).toBeLessThan(whole);
  // The opposite is the rest.
  await page.getByRole('button', { name: 'is', exact: true }).click();
  await eventually(() => sessionsOf(page)).toBe(format.number(whole - some));
  const paths = ['overview/kpis', 'overview/extended', 'series', 'pageviews'];
  for (const path of paths) {
    const asked = requests.filter(
      (url) => url.includes(`/sessions/${path}`) && url.includes('browser%21%3DChrome'),
    );
    expect(`${path} ${asked.length > 0}`).toBe(`${path} true`);
  }
  await page.getByRole('button', { name: 'About Sessions', exact: true }).click();
  expect(await textOf(page, '.curl')).toContain('segment=browser');
  await page.keyboard.press('Escape');
  // Back undoes the filters, too.
  await page.goBack();
  await eventually(() => sessionsOf(page)).toBe(format.number(some));
  await page.getByRole('button', { name: 'Remove the filter: Browser is Chrome' }).click();
  await eventually(() => sessionsOf(page)).toBe(format.number(whole));
});

describe('ways', () => {
  test('a page that could not be loaded comes by itself when the service is back', async () => {
    const way = await gate();
    const { page } = await analytics('?range=yesterday&zone=utc', way.url);
    await way.stop();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'This could not be loaded' }).waitFor();
    await way.go();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
  });

  test('the window names app and page; other apps and the settings are one step away', async () => {
    const { metadata, account, app } = service();
    const other = await metadata.createApp(
      { accountId: account, actor: 'operator' } as Parameters<typeof metadata.createApp>[0],
      { name: 'Blog', domain: `https://${randomUUID()}.example` },
    );
    const { page } = await analytics('?range=yesterday&zone=tehran');
    await eventually(() => page.title()).toBe('Shop · Analytics · Analytics console');
    await page.getByLabel('Show another app').selectOption('Blog');
    await eventually(() => new URL(page.url()).pathname).toBe(`/dashboard/apps/${other.id}`);
    expect(new URL(page.url()).search).toBe('?range=yesterday&zone=tehran');
    await page.goBack();
    await page.getByRole('main').getByRole('link', { name: 'Settings', exact: true }).click();
    await eventually(() => new URL(page.url()).pathname).toBe(`/dashboard/apps/${app}/settings`);
    await eventually(() => page.title()).toContain('Settings of Shop');
    const persian = await analytics('?range=yesterday', service().url, { language: 'fa' });
    await eventually(() => persian.page.title()).toBe('Shop · تحلیل‌ها · کنسول تحلیل');
  });

  test('a shared view opens after signing in by a link', async () => {
    const view = `/dashboard/apps/${service().app}?range=yesterday&zone=tehran&pages=exitPages`;
    const visitor = await openConsole(browser, service());
    open.push(visitor);
    const { page, context } = visitor;
    await page.goto(`${service().url}${view}`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const { token } = await service().metadata.createSignInLink(service().account, '');
    const second = await context.newPage();
    await second.goto(`${service().url}/dashboard/sign-in#${token}`);
    await second.waitForURL(`${service().url}${view}`);
    await second.locator('.tile-value').first().waitFor();
    // The link was used. It leads somebody who is signed in on.
    await page.goto(`${service().url}/dashboard/sign-in#${token}`);
    await page.waitForURL(`${service().url}/dashboard`);
    await page.getByRole('heading', { name: 'Apps' }).waitFor();
  });
});
