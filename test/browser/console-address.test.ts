import { describe, expect, test } from 'vitest';
import type { KpiComparison } from '../../src/client/index.ts';
import { formatOf } from '../../src/console/i18n/format.ts';
import { eventually, panel, rowsOf, textOf } from './analytics.ts';
import { DAY_MS, KPIS, withAnalytics } from './analytics-page.ts';

const stage = withAnalytics();
const format = formatOf('en-GB');

describe('the address', () => {
  test('holds what was chosen; a link shows the same', async () => {
    const { page, context } = await stage.analytics();
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
    const visitor = await stage.analytics('?zone=tehran');
    const { page, requests } = visitor;
    await page.getByLabel('Range').selectOption({ label: 'From … to …' });
    const day = new Date(stage.service.clock.now().getTime() - 2 * DAY_MS).toISOString().slice(0, 10);
    await page.getByLabel('From', { exact: true }).fill(`${day}T18:45`);
    await page.getByLabel('To, inclusive').fill(`${day}T10:30`);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    expect(await page.getByText('From is later than To.').count()).toBe(1);
    await page.getByLabel('From', { exact: true }).fill(`${day}T08:45`);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const range = `from=${day}T05%3A15%3A00.000Z&to=${day}T07%3A00%3A59.999Z`;
    await eventually(() => requests.some((url) => url.includes(KPIS) && url.includes(range))).toBe(true);
    expect(new URL(page.url()).search).toBe(`?from=${day}T08:45&to=${day}T10:30&zone=tehran`);
    const { json } = await stage.service.ask(`/api/v1${KPIS}?appId=${stage.service.app}&${range}`);
    await eventually(() => textOf(page, '[data-figure=sessions] .tile-value')).toBe(
      format.number((json as KpiComparison).current.sessions),
    );
  });
});

describe('filters', () => {
  test('a wrong one is shown, refused and can be removed', async () => {
    const { page, visit } = await stage.owner();
    await visit(`/apps/${stage.service.app}?range=7d&segment=country`);
    await page.getByRole('alert').first().waitFor();
    await page.locator('.live[data-state=refused]').waitFor();
    expect(await page.locator('.tile-value').count()).toBe(0);
    await page.getByRole('button', { name: 'Remove the filter: Wrong filter: country' }).click();
    await page.locator('.tile-value').first().waitFor();
    expect(new URL(page.url()).searchParams.has('segment')).toBe(false);
    await page.locator('.live[data-state=live]').waitFor();
  });

  test('a place filters by its city and its country', async () => {
    const { page } = await stage.analytics();
    const places = panel(page, 'Locations');
    await places.scrollIntoViewIfNeeded();
    await places.locator('tbody .filtering').first().click();
    await eventually(() => new URL(page.url()).searchParams.get('segment')).toMatch(
      /^city==[^;]+;(region==[^;]+;)?country==[A-Z]{2}$/,
    );
    expect(await page.locator('.chip').count()).toBeGreaterThan(1);
  });
});
