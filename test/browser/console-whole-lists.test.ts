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
    const visitor = await whole('?range=28d&zone=utc&list=cities&compare=1');
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

describe.each(['en', 'fa'] as const)('%s', (language) => {
  test('whole lists are usable at each width, in light and dark', async () => {
    const found: string[] = [];
    const complaints: string[] = [];
    for (const scheme of ['light', 'dark'] as const) {
      const visitor = await whole('?range=28d&zone=tehran&compare=1&list=countries', { language, scheme });
      const { page } = visitor;
      for (const list of [
        'countries&sort=-share',
        'campaigns',
        'locations',
        'customEvents&event=order&property=plan',
      ]) {
        await page.goto(
          `${stage.service.url}/dashboard/apps/${stage.service.app}?range=28d&compare=1&list=${list}`,
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
