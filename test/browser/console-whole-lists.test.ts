import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Download, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BreakdownRow, EventCount, PageView } from '../../src/client/index.ts';
import { WHOLE_IDS } from '../../src/console/analytics/view/view.ts';
import { formatOf } from '../../src/console/i18n/format.ts';
import { eventually, panel, rowsOf, textOf } from './analytics.ts';
import { withAnalytics } from './analytics-page.ts';
import { findings } from './console.ts';
import { unzipped } from './unzip.ts';

const stage = withAnalytics();
const format = formatOf('en-GB');

beforeAll(() =>
  stage.service.record(
    [...'پپپکي'].map((letter, i) => {
      const startedAt = new Date(stage.service.clock.now().getTime() - (i + 1) * 60_000).toISOString();
      return {
        id: randomUUID(),
        visitorId: randomUUID(),
        startedAt,
        context: { location: { country: 'IR', city: `${letter}زد`, latitude: 31.9, longitude: 54.4 } },
        events: [
          { type: 'pageview' as const, timestamp: startedAt, path: '/' },
          {
            type: 'custom' as const,
            timestamp: startedAt,
            path: '/',
            name: 'order',
            properties: { plan: i < 3 ? 'pro' : 'free' },
          },
        ],
      };
    }),
  ),
);

const NOTHING = {
  visitors: 0,
  share: 0,
  pageviews: 0,
  bounceRate: 0,
  averageSessionDurationMs: 0,
  pagesPerSession: 0,
};

/** Opens a whole list, and waits until it is there. */
async function whole(search: string, viewing = {}) {
  const visitor = await stage.owner(viewing);
  await visitor.visit(`/apps/${stage.service.app}${search}`);
  await visitor.page.locator('.whole section[aria-busy=false]').waitFor();
  return visitor;
}

async function downloaded(page: Page, name: string | RegExp): Promise<Download> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name }).click(),
  ]);
  return download as Download;
}

const text = async (download: Download): Promise<string> =>
  readFileSync(await download.path(), 'utf8').replace(/^\uFEFF/, '');

describe('a whole list', () => {
  test('opens from its panel, with all rows and columns of the answer; Back leads to the panels', async () => {
    const visitor = await stage.analytics('?range=28d&zone=utc');
    const { page, complaints } = visitor;
    await page.getByRole('link', { name: 'Show all: Browsers' }).click();
    await eventually(() => new URL(page.url()).search).toBe('?range=28d&zone=utc&list=browsers');
    await panel(page, 'Browsers').locator('tbody tr').first().waitFor();
    const rows = await stage.answer<BreakdownRow[]>(visitor, '/sessions/breakdown');
    expect(await rowsOf(page, 'Browsers')).toEqual(
      rows.map((row) => [
        row.name,
        format.number(row.sessions),
        format.number(row.visitors),
        format.percent(row.share),
        format.number(row.pageviews),
        format.percent(row.bounceRate),
        format.seconds(row.averageSessionDurationMs / 1000),
        row.pagesPerSession.toFixed(2),
      ]),
    );
    expect(await textOf(page, '.whole [role=status]')).toBe(`Rows: ${rows.length}`);
    expect(await page.locator('.panel').count()).toBe(1);
    await page.goBack();
    await eventually(() => page.locator('.panel').count()).toBeGreaterThan(5);
    expect(complaints).toEqual([]);
  });

  test('more than the first rows: all are there, and the count says so', async () => {
    const visitor = await whole('?range=28d&zone=utc&list=pages');
    const { page } = visitor;
    const asked = await stage.answer<PageView[]>(visitor, '/sessions/pageviews');
    expect(asked.length).toBeGreaterThan(100);
    expect(await rowsOf(page, 'Pages')).toHaveLength(100);
    await page.getByRole('button', { name: /^Show \d+ more$/ }).click();
    expect(await rowsOf(page, 'Pages')).toHaveLength(Math.min(200, asked.length));
    expect(await textOf(page, '.whole [role=status]')).toBe(`Rows: ${format.number(asked.length)}`);
  });

  test('is sorted by each column, in both directions; a link keeps the order', async () => {
    const { page } = await whole('?range=28d&zone=utc&list=countries');
    const heads = page.getByRole('columnheader');
    expect(await heads.count()).toBe(8);
    const values = async (column: number): Promise<number[]> =>
      (await rowsOf(page, 'Countries')).map((row) =>
        Number.parseFloat((row[column] ?? '').replace(/,/g, '')),
      );
    for (const column of [1, 2, 3, 4, 5, 7]) {
      const head = heads.nth(column);
      await head.getByRole('button').click();
      await eventually(() => head.getAttribute('aria-sort')).toBe('descending');
      const shown = await values(column);
      expect(shown).toEqual(shown.toSorted((a, b) => b - a));
      await head.getByRole('button').click();
      await eventually(() => head.getAttribute('aria-sort')).toBe('ascending');
      expect(await values(column)).toEqual(shown.toSorted((a, b) => a - b));
      expect(await page.locator('[aria-sort]').count()).toBe(1);
    }
    await heads.first().getByRole('button').click();
    await eventually(() => new URL(page.url()).searchParams.get('sort')).toBe('name');
    const names = (await rowsOf(page, 'Countries')).map(([name]) => name ?? '');
    const { compare } = new Intl.Collator('en-GB', { numeric: true });
    const known = names.filter((name) => name !== '(none)');
    expect(known).toEqual(known.toSorted(compare));
    await page.reload();
    await eventually(async () => (await rowsOf(page, 'Countries')).map(([name]) => name)).toEqual(names);
  });

  test('a search finds Persian in any spelling, a row filters, and a comparison has its columns', async () => {
    const visitor = await whole('?range=7d&zone=utc&list=cities&compare=1');
    const { page } = visitor;
    await page.getByLabel('Find in this list').fill('كزد');
    await eventually(async () => (await rowsOf(page, 'Cities')).map(([name]) => name?.trim())).toEqual([
      'کزد',
    ]);
    expect(await textOf(page, '.whole [role=status]')).toMatch(/^Rows: 1 of \d+$/);
    await page.getByRole('columnheader', { name: 'Change' }).getByRole('button').click();
    await eventually(() => new URL(page.url()).searchParams.get('sort')).toBe('-change');
    await page.locator('.whole .filtering').first().click();
    await eventually(() => new URL(page.url()).searchParams.get('segment')).toBe('city==کزد');
    await page.getByRole('link', { name: 'Back to all panels' }).click();
    await eventually(() => textOf(page, '[data-figure=sessions] .tile-value')).toBe('1');
  });

  test('custom events lead to the values of their properties', async () => {
    const visitor = await whole('?range=7d&zone=utc&list=customEvents');
    const { page } = visitor;
    const events = await stage.answer<EventCount[]>(visitor, '/sessions/events');
    expect((await rowsOf(page, 'Custom events')).map(([name]) => name)).toEqual(
      events.map(({ name }) => name),
    );
    await page.getByRole('button', { name: 'Properties of order' }).click();
    await page.getByText('Name a property to see its values.').waitFor();
    await page.getByLabel('Property').fill('plan');
    await page.keyboard.press('Enter');
    await eventually(() => rowsOf(page, 'Properties of order')).toEqual([
      ['pro', '3', '3', '3'],
      ['free', '2', '2', '2'],
    ]);
    expect(await page.locator('.whole .filtering').count()).toBe(0);
    const csv = await downloaded(page, 'Export Properties of order as CSV');
    expect(await text(csv)).toBe('"name","count","sessions","visitors"\r\n"pro",3,3,3\r\n"free",2,2,2\r\n');
    // The browser knows the property of the event now.
    await page.getByRole('button', { name: 'All custom events' }).click();
    await page.getByRole('button', { name: 'Properties of order' }).click();
    expect(
      await page.locator('#known-properties option').evaluateAll((all) => all.map((each) => each.value)),
    ).toEqual(['plan', 'url']);
  });
});

describe('exports', () => {
  test('of one list: all its rows, with the columns of the whole', async () => {
    const visitor = await whole('?range=28d&zone=utc&list=channels');
    const rows = await stage.answer<BreakdownRow[]>(visitor, '/sessions/breakdown');
    const lines = (await text(await downloaded(visitor.page, 'Export Channels as CSV')))
      .trimEnd()
      .split('\r\n');
    expect(lines).toHaveLength(rows.length + 1);
    expect(lines[0]).toBe(
      '"name","sessions","visitors","share","pageviews","bounceRate","averageSessionDurationMs","pagesPerSession"',
    );
    expect(lines[1]?.startsWith(`"${rows[0]?.name}",${rows[0]?.sessions},`)).toBe(true);
  });

  test('of everything: a zip with every panel and every whole list, under the filters', async () => {
    const { page } = await stage.analytics('?range=7d&zone=utc&segment=country==IR&compare=1');
    const download = await downloaded(page, 'Export all');
    expect(download.suggestedFilename()).toMatch(/^Shop_all_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d\.zip$/);
    const files = unzipped(readFileSync(await download.path()));
    expect([...files.keys()]).toEqual(
      [
        'key-figures',
        'figures',
        'growth',
        'now',
        ...['sessions', 'visitors', 'pageviews'].flatMap((metric) => [
          `heatmap-${metric}`,
          `usual-week-${metric}`,
        ]),
        ...WHOLE_IDS,
      ].map((name) => `${name}.csv`),
    );
    const sessions = (await textOf(page, '[data-figure=sessions] .tile-value')).replace(/,/g, '');
    expect(files.get('key-figures.csv')).toContain(`\r\n"sessions",${sessions},`);
    expect(files.get('countries.csv')).toMatch(/^\uFEFF"name",.*\r\n"IR",\d+,[^\r]*\r\n$/);
    expect(files.get('growth.csv')?.split('\r\n')).toHaveLength(9);
    for (const [name, each] of files) expect([name, each.startsWith('\uFEFF"')]).toEqual([name, true]);
  });

  test('an answer fails: no zip, and the page says so', async () => {
    const { page } = await stage.analytics('?range=yesterday');
    await page.route('**/api/v1/growth/utm**', (route) =>
      route.fulfill({ status: 500, contentType: 'text/plain', body: '' }),
    );
    await page.getByRole('button', { name: 'Export all' }).click();
    await page.getByText('The export failed. Try again.').waitFor();
    await page.getByRole('button', { name: 'Export all' }).waitFor();
  });
});

describe('a list that is cut', () => {
  const pages = (rows: number): PageView[] =>
    Array.from({ length: rows }, (_, i) => ({ path: `/p${i}`, views: rows - i, uniqueSessions: 1 }));
  const campaigns = (rows: number) =>
    Array.from({ length: rows }, (_, i) => ({
      source: `s${i}`,
      medium: null,
      campaign: null,
      term: null,
      content: null,
      sessions: rows - i,
      visitors: 1,
    }));
  /** Answers a question in the place of the service, as it would with so many rows. */
  async function given<T>(page: Page, path: string, rows: (limit: number) => T[]): Promise<void> {
    await page.route(`**/api/v1${path}?**`, (route) => {
      const limit = new URL(route.request().url()).searchParams.get('limit');
      return route.fulfill({ json: rows(limit === null ? Number.POSITIVE_INFINITY : Number(limit)) });
    });
  }

  test('more rows than a question gives with a limit: the list says so, the CSV has all', async () => {
    const { page } = await stage.owner();
    await given(page, '/sessions/pageviews', (limit) => pages(Math.min(limit, 10_003)));
    await page.goto(`${stage.service.url}/dashboard/apps/${stage.service.app}?range=28d&list=pages`);
    await page
      .getByText(
        'The list is cut after its first 10,000 rows: the search and the order are of these. The CSV has all rows.',
      )
      .waitFor();
    expect(await textOf(page, '.whole [role=status]')).toBe('Rows: 10,000');
    const csv = await downloaded(page, 'Export Pages as CSV');
    expect((await text(csv)).trimEnd().split('\r\n')).toHaveLength(10_004);
    expect(csv.suggestedFilename()).toMatch(/^Shop_pages_\d/);
  });

  test('more rows than the service ever gives: the list says so, and so do the names of its CSV and in the zip', async () => {
    const { page } = await stage.owner();
    const { url, app } = stage.service;
    await given(page, '/growth/utm', () => campaigns(100));
    await page.goto(`${url}/dashboard/apps/${app}?range=28d&list=campaigns`);
    await page
      .getByText(
        'The list is cut after its first 100 rows: the service gives no more, and the CSV has no more.',
      )
      .waitFor();
    const csv = await downloaded(page, 'Export Campaigns as CSV');
    expect(csv.suggestedFilename()).toMatch(/^Shop_campaigns-first-100_\d/);
    const files = unzipped(readFileSync(await (await downloaded(page, 'Export all')).path()));
    expect([...files.keys()].filter((name) => name.includes('-first-'))).toEqual(['campaigns-first-100.csv']);
  });

  test('a list that is not cut says nothing of it', async () => {
    const { page } = await stage.owner();
    await given(page, '/growth/utm', () => campaigns(99));
    await page.goto(`${stage.service.url}/dashboard/apps/${stage.service.app}?range=28d&list=campaigns`);
    await eventually(() => textOf(page, '.whole [role=status]')).toBe('Rows: 99');
    expect(await page.getByText('The list is cut').count()).toBe(0);
    const csv = await downloaded(page, 'Export Campaigns as CSV');
    expect(csv.suggestedFilename()).toMatch(/^Shop_campaigns_\d/);
  });

  test('a panel shows the first ten; its CSV is that of the whole list', async () => {
    const visitor = await stage.analytics('?range=28d&zone=utc');
    const { page } = visitor;
    const rows = Array.from({ length: 12 }, (_, i) => ({ name: `r${i}`, ...NOTHING, sessions: 12 - i }));
    await given(page, '/sessions/breakdown', (limit) => rows.slice(0, limit));
    const csv = await downloaded(page, /^Export Sources as CSV$/);
    expect((await text(csv)).trimEnd().split('\r\n')).toHaveLength(13);
  });
});

describe.each(['en', 'fa'] as const)('%s', (language) => {
  test('whole lists are usable at each width, in light and dark', async () => {
    const found: string[] = [];
    const complaints: string[] = [];
    for (const scheme of ['light', 'dark'] as const) {
      const visitor = await whole('?range=7d&zone=tehran&compare=1&list=countries', { language, scheme });
      const { page } = visitor;
      for (const list of [
        'countries&sort=-share',
        'campaigns',
        'locations',
        'customEvents&event=order&property=plan',
      ]) {
        await page.goto(
          `${stage.service.url}/dashboard/apps/${stage.service.app}?range=7d&compare=1&list=${list}`,
        );
        await page.locator('.whole tbody tr').first().waitFor();
        for (const width of [390, 768, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
          const finds = await findings(page);
          const lines = [...finds, ...(isWider ? ['The page is wider than the window.'] : [])];
          found.push(...lines.map((line) => `${list} ${scheme} ${width}: ${line}`));
        }
      }
      complaints.push(...visitor.complaints);
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
