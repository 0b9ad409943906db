import { describe, expect, test } from 'vitest';
import { panel, seeAll, textOf } from './analytics.ts';
import { withAnalytics } from './analytics-page.ts';
import { findings } from './console.ts';

const stage = withAnalytics();
test('in Persian: from the right, Persian digits, both calendars, weeks from Saturday', async () => {
  const { page } = await stage.analytics('?zone=tehran', { language: 'fa' });
  expect(await textOf(page, '[data-figure=sessions] .tile-value')).toMatch(/^[۰-۹٬]+$/);
  const year = (calendar: string) =>
    new Intl.DateTimeFormat(`fa-IR-u-ca-${calendar}`, { year: 'numeric' }).format(stage.service.clock.now());
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
  const { page } = await stage.analytics('', { language: 'fa', width: 390 });
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
    const visitor = await stage.analytics('?compare=1&zone=tehran', { language });
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
