import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, Download, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { KPI_FIGURES } from '../../src/answers/figures.ts';
import type {
  ExtendedOverview,
  KpiComparison,
  PageView,
  Series,
  TrafficHeatmap,
} from '../../src/client/index.ts';
import { formatOf } from '../../src/console/i18n/format.ts';
import { visits } from '../../src/demo/visits.ts';
import { epochMs } from '../../src/domain/time.ts';
import type { SessionSeed } from '../../src/testing/types.ts';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';
import { findings, openConsole, signedIn, type Viewing, type Visitor } from './console.ts';

const DAY_MS = 86_400_000;
const DAYS = 15;
const format = formatOf('en-GB');

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
  const now = service().clock.now().getTime();
  await service().record([...visits(epochMs(now - DAYS * DAY_MS), epochMs(now))] as SessionSeed[]);
});
afterAll(() => browser.close());

type Cookies = Awaited<ReturnType<Visitor['context']['cookies']>>;

const open: Visitor[] = [];
let cookies: Cookies = [];
beforeAll(async () => {
  // Once for all tests, because attempts to sign in are limited.
  const { context } = await signedIn(browser, service(), service().account);
  cookies = await context.cookies();
  await context.close();
});
afterEach(async () => {
  for (const { context } of open.splice(0)) await context.close();
});

/** An owner of the account, in a browser of their own. */
async function owner(viewing: Viewing = {}): Promise<Visitor> {
  const visitor = await openConsole(browser, service(), viewing);
  open.push(visitor);
  await visitor.context.addCookies(cookies);
  return visitor;
}

/** Opens the analytics of the app with the demo's data; `search` is the view. */
async function analytics(search = '', viewing: Viewing = {}): Promise<Visitor> {
  const visitor = await owner(viewing);
  await visitor.visit(`/apps/${service().app}${search}`);
  await visitor.page.locator('.tile-value').first().waitFor();
  return visitor;
}

/** The newest answer that a page got from a path, asked for again with the key. */
async function answer<T>({ requests }: Visitor, path: string): Promise<T> {
  const url = requests.findLast((each) => each.includes(`/dashboard/api/v1${path}`));
  if (url === undefined) throw new Error(`The page did not ask ${path}.`);
  const { json } = await service().ask(url.replace(/^.*\/dashboard/, ''));
  return json as T;
}

const KPIS = '/sessions/overview/kpis';
/** The page asks for the whole range first, and then for its parts. */
const kpisOf = (visitor: Visitor): Promise<KpiComparison> =>
  answer({ ...visitor, requests: [visitor.requests.find((url) => url.includes(KPIS)) ?? ''] }, KPIS);

const textOf = async (page: Page, selector: string): Promise<string> =>
  ((await page.locator(selector).first().textContent()) ?? '').trim();
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const rowsOf = (page: Page, name: string): Promise<string[][]> =>
  panel(page, name)
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) =>
        Array.from(row.children as Iterable<{ textContent: string }>, (cell) => cell.textContent),
      ),
    );

const written = (name: (typeof KPI_FIGURES)[number], value: number): string => {
  if (name === 'averageSessionDurationMs') return format.seconds(value / 1000);
  if (name === 'bounceRate') return format.percent(value);
  return name === 'pagesPerSession' ? value.toFixed(2) : format.number(value);
};

/** Waits until what is read fulfils the expectation. */
const eventually = <T>(read: () => T) => expect.poll(read);

describe('figures are those of the API', () => {
  test('key figures, their change, and the lists', async () => {
    // A range that is over is compared with the whole one before, as the answer does it.
    const day = (daysAgo: number): string =>
      new Date(service().clock.now().getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const visitor = await analytics(`?from=${day(7)}T00:00&to=${day(1)}T23:59&zone=utc`);
    const { page, complaints } = visitor;
    await page.locator('.tile .change').first().waitFor();
    const kpis = await kpisOf(visitor);
    for (const name of KPI_FIGURES) {
      expect(await textOf(page, `[data-figure=${name}] .tile-value`)).toBe(written(name, kpis.current[name]));
      const points = Math.round((kpis.change.bounceRate ?? 0) * 10_000) / 100;
      const percent = name === 'bounceRate' ? points : (kpis.changePercent[name] ?? 0);
      expect(await textOf(page, `[data-figure=${name}] .change`)).toContain(
        format.number(Math.abs(percent), { maximumFractionDigits: Math.abs(percent) < 100 ? 1 : 0 }),
      );
    }
    expect(await textOf(page, '.period')).toContain('Compared with: ');
    await panel(page, 'Pages').locator('tbody tr').first().waitFor();
    const pages = await answer<PageView[]>(visitor, '/sessions/pageviews');
    expect(await rowsOf(page, 'Pages')).toEqual(
      pages
        .slice(0, 10)
        .map(({ path, views, uniqueSessions }) => [
          path,
          format.number(views),
          format.number(uniqueSessions),
        ]),
    );
    await panel(page, 'Technology').locator('tbody tr').first().waitFor();
    const overview = await answer<ExtendedOverview>(visitor, '/sessions/overview/extended');
    expect((await rowsOf(page, 'Technology')).map(([name, sessions]) => [name, sessions])).toEqual(
      overview.technology.browsers.map(({ name, sessions }) => [name, format.number(sessions)]),
    );
    expect(await textOf(page, 'dl [data-figure=newVisitors] .fact-value')).toBe(
      format.number(overview.session.newVisitors),
    );
    expect(complaints).toEqual([]);
  });

  test('growth and heatmaps have tables with every value', async () => {
    const visitor = await analytics();
    const { page } = visitor;
    await panel(page, 'Growth').getByRole('button', { name: 'Table' }).click();
    const { points: days } = await answer<Series>(visitor, '/sessions/series');
    await eventually(async () => (await rowsOf(page, 'Growth')).map(([, ...values]) => values)).toEqual(
      days.map((day) =>
        [day.sessions, day.visitors, day.pageviews, day.clicks].map((value) => format.number(value)),
      ),
    );
    const heatmap = panel(page, 'Last 7 days, by hour');
    await heatmap.scrollIntoViewIfNeeded();
    await heatmap.locator('rect').first().waitFor();
    await heatmap.getByRole('button', { name: 'Table' }).click();
    const { days: week } = await answer<TrafficHeatmap>(visitor, '/sessions/traffic-heatmap');
    const shown = await rowsOf(page, 'Last 7 days, by hour');
    // Hours to come have no value.
    expect(shown.map(([, ...hours]) => hours.map((text) => (text === '–' ? '0' : text)))).toEqual(
      week.map(({ sessions }) => sessions.map((value) => format.number(value))),
    );
  });

  test('a chart by hour, day, week and month has the answer of the series', async () => {
    const visitor = await analytics('?range=28d&zone=tehran');
    const { page } = visitor;
    await panel(page, 'Growth').getByRole('button', { name: 'Table' }).click();
    for (const [name, interval] of [
      ['Week', 'week'],
      ['Hour', 'hour'],
      ['Day', 'day'],
    ] as const) {
      await panel(page, 'Growth').getByText(name, { exact: true }).click();
      await eventually(() => new URL(page.url()).searchParams.get('by')).toBe(interval);
      await page.locator('section[aria-label="Growth"][aria-busy="false"]').waitFor();
      const { points, ...asked } = await answer<Series>(visitor, '/sessions/series');
      expect(asked).toEqual({ interval, timezone: 'Asia/Tehran' });
      const shown = (await rowsOf(page, 'Growth')).map(([, sessions]) => (sessions === '–' ? '0' : sessions));
      expect(shown).toEqual(points.map(({ sessions }) => format.number(sessions)));
    }
  });
});

describe('the address', () => {
  test('holds what was chosen; a link shows the same', async () => {
    const { page, context } = await analytics();
    await page.getByLabel('Range').selectOption('yesterday');
    await page.getByLabel('Time zone').selectOption('Asia/Tehran');
    await page.getByLabel('Side by side').check();
    await page.getByRole('tab', { name: 'Entry pages' }).click();
    await panel(page, 'Growth').getByText('Page views').click();
    await page.getByLabel('Find in lists').fill('product');
    await eventually(() => new URL(page.url()).search).toBe(
      '?range=yesterday&zone=tehran&compare=1&growth=pageviews&pages=entryPages&find=product',
    );
    await eventually(async () => (await rowsOf(page, 'Pages'))[0]?.[2]).toMatch(/^\d/);
    await page.locator('section[aria-label="Pages"][aria-busy="false"]').waitFor();
    const seen = await rowsOf(page, 'Pages');
    expect(seen.every(([path]) => path?.includes('product'))).toBe(true);
    const other = await context.newPage();
    await other.goto(page.url());
    await eventually(() => rowsOf(other, 'Pages')).toEqual(seen);
    expect(await other.getByLabel('Range').inputValue()).toBe('yesterday');
    expect(await textOf(other, '.tile-value')).toBe(await textOf(page, '.tile-value'));
    // One step for each choice; the letters of a search are none.
    for (let step = 0; step < 5; step++) await page.goBack();
    await eventually(() => page.getByLabel('Range').inputValue()).toBe('7d');
  });

  test('takes a range to the minute, in Tehran time', async () => {
    const visitor = await analytics('?zone=tehran');
    const { page, requests } = visitor;
    await page.getByLabel('Range').selectOption({ label: 'From … to …' });
    const day = new Date(service().clock.now().getTime() - 2 * DAY_MS).toISOString().slice(0, 10);
    await page.getByLabel('From', { exact: true }).fill(`${day}T18:45`);
    await page.getByLabel('To, inclusive').fill(`${day}T10:30`);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    expect(await page.getByText('From is later than To.').count()).toBe(1);
    await page.getByLabel('From', { exact: true }).fill(`${day}T08:45`);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const range = `from=${day}T05%3A15%3A00.000Z&to=${day}T07%3A00%3A59.999Z`;
    await eventually(() => requests.some((url) => url.includes(KPIS) && url.includes(range))).toBe(true);
    expect(new URL(page.url()).search).toBe(`?from=${day}T08:45&to=${day}T10:30&zone=tehran`);
    const { json } = await service().ask(`/api/v1${KPIS}?appId=${service().app}&${range}`);
    await eventually(() => textOf(page, '[data-figure=sessions] .tile-value')).toBe(
      format.number((json as KpiComparison).current.sessions),
    );
  });
});

test('everything stands beside the period before', async () => {
  const dayAgo = (days: number): string =>
    new Date(service().clock.now().getTime() - days * DAY_MS).toISOString().slice(0, 10);
  const visitor = await analytics(`?from=${dayAgo(7)}T00:00&to=${dayAgo(1)}T23:59&zone=utc&compare=1`);
  const { page, requests } = visitor;
  await page.locator('.tile-before').first().waitFor();
  const kpis = await kpisOf(visitor);
  expect(await textOf(page, '[data-figure=sessions] .tile-before')).toBe(
    `Compared: ${format.number(kpis.previous.sessions)}`,
  );
  await eventually(async () => (await rowsOf(page, 'Pages'))[0]?.[3]).toMatch(/^\d/);
  const { from, to } = kpis.previous;
  const before = `/api/v1/sessions/pageviews?appId=${service().app}&from=${from}&to=${to}`;
  const earlier = new Map(
    ((await service().ask(before)).json as PageView[]).map(({ path, views }) => [path, views]),
  );
  for (const [path = '', , , previous] of await rowsOf(page, 'Pages')) {
    expect(previous).toBe(format.number(earlier.get(path) ?? 0));
  }
  await page.locator('.line-second').waitFor({ state: 'attached' });
  await panel(page, 'Growth').getByRole('button', { name: 'Table' }).click();
  expect((await rowsOf(page, 'Growth'))[0]).toHaveLength(9);
  const asked = requests.filter((url) => url.includes(`to=${encodeURIComponent(to)}`)).join('\n');
  for (const path of ['series', 'pageviews', 'overview/extended']) expect(asked).toContain(path);
});

describe('filters', () => {
  test('a wrong one is shown, refused and can be removed', async () => {
    const { page, visit } = await owner();
    await visit(`/apps/${service().app}?range=7d&segment=country`);
    await page.getByRole('alert').first().waitFor();
    await page.locator('.live[data-state=refused]').waitFor();
    expect(await page.locator('.tile-value').count()).toBe(0);
    await page.getByRole('button', { name: 'Remove the filter: Wrong filter: country' }).click();
    await page.locator('.tile-value').first().waitFor();
    expect(new URL(page.url()).searchParams.has('segment')).toBe(false);
    await page.locator('.live[data-state=live]').waitFor();
  });

  test('a place filters by its city and its country', async () => {
    const { page } = await analytics();
    const places = panel(page, 'Locations');
    await places.scrollIntoViewIfNeeded();
    await places.locator('tbody .filtering').first().click();
    await eventually(() => new URL(page.url()).searchParams.get('segment')).toMatch(
      /^city==[^;]+;(region==[^;]+;)?country==[A-Z]{2}$/,
    );
    expect(await page.locator('.chip').count()).toBeGreaterThan(1);
  });
});

describe('exports', () => {
  async function exported(page: Page, title: string): Promise<string> {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Export ${title} as CSV` }).click(),
    ]);
    expect((download as Download).suggestedFilename()).toMatch(
      /^Shop_[a-z]+_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d\.csv$/,
    );
    return readFileSync(await (download as Download).path(), 'utf8').replace(/^\uFEFF/, '');
  }

  test('a list is exported whole', async () => {
    const visitor = await analytics();
    const text = await exported(visitor.page, 'Pages');
    const pages = await answer<PageView[]>(visitor, '/sessions/pageviews');
    expect(pages.length).toBeGreaterThan(50);
    expect(text).toBe(
      [
        '"path","views","uniqueSessions"',
        ...pages.map(({ path, views, uniqueSessions }) => `"${path}",${views},${uniqueSessions}`),
        '',
      ].join('\r\n'),
    );
  });

  test('every panel has an export', async () => {
    const { page } = await analytics();
    await page.locator('.plot svg path').first().waitFor();
    const panels = await page.locator('.panel').count();
    expect(await page.getByRole('button', { name: / as CSV$/ }).count()).toBe(panels);
    expect(await exported(page, 'Growth')).toMatch(
      /^"from","sessions","visitors","pageviews","clicks"\r\n"\d{4}/,
    );
  });
});

test('each figure tells its meaning, and its call works when it is pasted', async () => {
  const { page, requests } = await analytics();
  await page.getByRole('button', { name: 'About Bounce rate' }).click();
  const about = page.getByRole('dialog');
  await about.getByText('The share of sessions that bounced.').waitFor();
  await about.getByRole('button', { name: 'Copy the call' }).click();
  const curl = (await page.evaluate('navigator.clipboard.readText()')) as string;
  const [, url = ''] = /^curl -s -H "Authorization: Bearer \$KEY" '([^']+)'$/.exec(curl) ?? [];
  expect((await service().ask(url.replace(service().url, ''))).status).toBe(200);
  expect(requests.some((each) => each.includes(KPIS))).toBe(true);
  await page.keyboard.press('Escape');
  await about.waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('About Bounce rate');
});

describe('live', () => {
  /** A visit that begins now. */
  const visit = (path: string): SessionSeed => {
    const startedAt = new Date(service().clock.now().getTime()).toISOString();
    return {
      id: randomUUID(),
      visitorId: randomUUID(),
      startedAt,
      context: { location: { country: 'IS', city: 'Akureyri', latitude: 65.68, longitude: -18.1 } },
      events: [{ type: 'pageview', timestamp: startedAt, path }],
    };
  };
  const streams = (page: Page): { opened: number; ended: number } => {
    const count = { opened: 0, ended: 0 };
    page.on('request', (request) => {
      if (request.headers()['accept'] === 'text/event-stream') count.opened++;
    });
    page.on('requestfailed', (request) => {
      if (request.headers()['accept'] === 'text/event-stream') count.ended++;
    });
    return count;
  };

  test('an event changes the page, by one stream', async () => {
    const visitor = await owner();
    const { page } = visitor;
    const count = streams(page);
    await visitor.visit(`/apps/${service().app}?range=7d&find=live-page`);
    await page.locator('.live[data-state=live]').waitFor();
    await page.getByText('Nothing with “live-page”.').first().waitFor();
    const before = await textOf(page, '[data-figure=sessions] .tile-value');
    await service().record([visit('/live-page')]);
    await eventually(() => textOf(page, '[data-figure=sessions] .tile-value')).not.toBe(before);
    await eventually(() => rowsOf(page, 'Pages')).toEqual([['/live-page', '1', '1']]);
    expect(count.opened).toBe(1);
  });

  test('a past range has no stream, and a hidden tab holds none', async () => {
    const visitor = await owner();
    const { page } = visitor;
    const count = streams(page);
    await visitor.visit(`/apps/${service().app}?range=yesterday`);
    await page.locator('.live[data-state=past]').waitFor();
    await page.locator('.sparkline .line-first').first().waitFor();
    expect(count).toEqual({ opened: 0, ended: 0 });
    await page.getByLabel('Range').selectOption('today');
    await page.locator('.live[data-state=live]').waitFor();
    await page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, value: true });
       document.dispatchEvent(new Event('visibilitychange'));`,
    );
    await eventually(() => count).toEqual({ opened: 1, ended: 1 });
    await page.evaluate(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'));`);
    await eventually(() => count.opened).toBe(2);
  });

  test('the first questions are asked once, and before the session is known', async () => {
    const day = (daysAgo: number): string =>
      new Date(service().clock.now().getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    // A range that is over: no event makes the page ask again.
    const visitor = await analytics(`?from=${day(9)}T00:00&to=${day(2)}T23:59`);
    await visitor.page.locator('.plot svg path').first().waitFor();
    const { requests } = visitor;
    const [kpis = ''] = requests.filter((url) => url.includes(KPIS));
    expect(requests.filter((url) => url === kpis)).toHaveLength(1);
    expect(requests.filter((url) => url.includes('/sessions/series'))).toHaveLength(1);
    // The page asks for its name once it is shown to somebody.
    expect(requests.indexOf(kpis)).toBeLessThan(requests.findIndex((url) => url.endsWith('/api/v1/apps')));
  });

  test('many windows show their figures: three of them stream, and a place that is free is taken', async () => {
    const { context, page: first } = await analytics();
    const pages = [first];
    for (let i = 0; i < 7; i++) {
      const page = await context.newPage();
      pages.push(page);
      await page.goto(first.url());
      await page.locator('.tile-value').first().waitFor();
    }
    const live = async (): Promise<number> => {
      const states = await Promise.all(
        pages
          .filter((page) => !page.isClosed())
          .map((page) => page.locator('.live').getAttribute('data-state')),
      );
      return states.filter((state) => state === 'live').length;
    };
    await eventually(live).toBe(3);
    await first.close();
    await pages[1]?.close();
    await eventually(live).toBe(3);
  });
});

describe('states', () => {
  test('an app of another account: no access, and what to do', async () => {
    const other = await service().newTenant();
    const visitor = await owner();
    await visitor.page.goto(`${service().url}/dashboard/apps/${other.app}`);
    await visitor.page.getByText('Ask its owner to share it with your account.').waitFor();
  });

  test('an app without visits says what to do', async () => {
    const empty = await service().newTenant();
    const visitor = await signedIn(browser, service(), empty.account);
    open.push(visitor);
    await visitor.visit(`/apps/${empty.app}`);
    await visitor.page.getByText('There are no visits yet').waitFor();
    await visitor.page.locator('.state').getByRole('link', { name: 'Settings', exact: true }).click();
    await eventually(() => new URL(visitor.page.url()).pathname).toMatch(/\/settings$/);
  });

  test('a range without visits offers the days of those that there are', async () => {
    const old = await service().newTenant();
    const startedAt = new Date(service().clock.now().getTime() - 500 * DAY_MS).toISOString();
    const day = startedAt.slice(0, 10);
    const first: SessionSeed = {
      id: randomUUID(),
      visitorId: randomUUID(),
      startedAt,
      events: [{ type: 'pageview', timestamp: startedAt, path: '/old' }],
    };
    await service().record([first], old.app);
    const visitor = await signedIn(browser, service(), old.account);
    open.push(visitor);
    await visitor.visit(`/apps/${old.app}?range=365d`);
    await visitor.page.getByRole('button', { name: `Show ${format.date(startedAt)}` }).click();
    expect(new URL(visitor.page.url()).search).toBe(`?from=${day}T00:00&to=${day}T23:59&zone=utc`);
    await eventually(() => textOf(visitor.page, '[data-figure=sessions] .tile-value')).toBe('1');
  });

  test('an error says what failed, and can be tried again', async () => {
    const visitor = await owner();
    const { page } = visitor;
    const broken = '**/api/v1/sessions/pageviews**';
    await page.route(broken, (route) => route.fulfill({ status: 500, contentType: 'text/plain', body: '' }));
    await visitor.visit(`/apps/${service().app}?range=yesterday`);
    const pages = panel(page, 'Pages');
    await pages.getByRole('alert').waitFor();
    await page.unroute(broken);
    await pages.getByRole('button', { name: 'Try again' }).click();
    await pages.locator('tbody tr').first().waitFor();
  });
});

test('in Persian: from the right, Persian digits, both calendars, weeks from Saturday', async () => {
  const { page } = await analytics('?zone=tehran', { language: 'fa' });
  expect(await textOf(page, '[data-figure=sessions] .tile-value')).toMatch(/^[۰-۹٬]+$/);
  const year = (calendar: string) =>
    new Intl.DateTimeFormat(`fa-IR-u-ca-${calendar}`, { year: 'numeric' }).format(service().clock.now());
  const period = await textOf(page, '.period');
  expect(period).toContain(year('persian'));
  expect(period).toContain(year('gregory').replace(/[^۰-۹]/g, ''));
  const week = panel(page, 'یک هفتهٔ معمول، به تفکیک ساعت');
  await week.scrollIntoViewIfNeeded();
  await week.locator('rect').first().waitFor();
  expect(
    await week
      .locator('svg text')
      .filter({ hasText: /شنبه|جمعه/ })
      .first()
      .textContent(),
  ).toBe('شنبه');
});

test('in Persian on a phone: no name of a day is cut, and campaigns show their numbers', async () => {
  const { page } = await analytics('', { language: 'fa', width: 390 });
  await seeAll(page);
  const cut = (name: string) =>
    page.locator(name).evaluateAll((all) =>
      all.flatMap((each) => {
        const { left, right } = each.getBoundingClientRect();
        const frame = each.closest('svg, .scroll').getBoundingClientRect();
        return left < frame.left - 1 || right > frame.right + 1 ? [each.textContent] : [];
      }),
    );
  expect(await page.locator('svg:has(.heat) g text').count()).toBe(14);
  expect(await cut('svg:has(.heat) g text')).toEqual([]);
  expect(await page.locator('.list-wide td.number').count()).toBeGreaterThan(0);
  expect(await cut('.list-wide td.number')).toEqual([]);
});

describe.each(['en', 'fa'] as const)('%s', (language) => {
  test('usable at each width, in light and dark', async () => {
    const visitor = await analytics('?compare=1&zone=tehran', { language });
    const { page, complaints } = visitor;
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const width of [390, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await seeAll(page);
        const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        // The width decides nothing about contrasts.
        const finds = colorScheme === 'light' || width === 1440 ? await findings(page) : [];
        const lines = [...finds, ...(isWider ? ['The page is wider than the window.'] : [])];
        found.push(...lines.map((line) => `${colorScheme} ${width}: ${line}`));
      }
    }
    const tables = page.locator('button[aria-pressed=false]');
    while ((await tables.count()) > 0) await tables.first().click();
    await page.locator('.about').first().click();
    await page.locator('.explained').waitFor();
    found.push(...(await findings(page)).map((line) => `tables: ${line}`));
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

/** Scrolls through the page, so that every panel has asked. A panel asks when it is in view for a moment. */
async function seeAll(page: Page): Promise<void> {
  for (const each of await page.locator('.panel').all()) {
    await eventually(async () => {
      await each.scrollIntoViewIfNeeded();
      return each.locator('.loading').count();
    }).toBe(0);
  }
}
