import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually, textOf } from './analytics.ts';
import { withAnalytics } from './analytics-page.ts';
import { findings } from './console.ts';

const stage = withAnalytics();
const searchOf = (page: Page): string => new URL(page.url()).search;
const ofRange = async (page: Page, search: string): Promise<void> => {
  await eventually(() => searchOf(page)).toBe(search);
};

describe('the period before and after', () => {
  test('arrows go there and back, not into the future and not before the data', async () => {
    const { page } = await stage.analytics('?range=today&zone=utc');
    const [before, after] = ['The period before', 'The period after'].map((name) =>
      page.getByRole('button', { name, exact: true }),
    );
    if (before === undefined || after === undefined) throw new Error('no arrows');
    expect(await after.getAttribute('aria-disabled')).toBe('true');
    expect(await after.getAttribute('title')).toBe('The period after has not begun');
    await before.click();
    await ofRange(page, '?range=yesterday&zone=utc');
    await before.click();
    const day = stage.dayAgo(2);
    await ofRange(page, `?from=${day}T00:00&to=${day}T23:59&zone=utc`);
    await page.locator('.tile-value').first().waitFor();
    // The focus stays, so that a key goes on.
    await page.keyboard.press('Enter');
    await ofRange(page, `?from=${stage.dayAgo(3)}T00:00&to=${stage.dayAgo(3)}T23:59&zone=utc`);
    await after.click();
    await after.click();
    await after.click();
    await ofRange(page, '?range=today&zone=utc');
    await page.getByLabel('Range', { exact: true }).selectOption('90d');
    await eventually(() => before.getAttribute('aria-disabled')).toBe('true');
    await before.click({ force: true });
    await ofRange(page, '?range=90d&zone=utc');
  });

  test('in Persian, the arrow to the period before points to the right', async () => {
    const { page } = await stage.analytics('?range=today&zone=tehran', { language: 'fa' });
    const before = page.getByRole('button', { name: 'دورهٔ پیش از این' });
    const after = page.getByRole('button', { name: 'دورهٔ پس از این' });
    const left = async (of: typeof before): Promise<number> => (await of.boundingBox())?.x ?? 0;
    expect(await left(before)).toBeGreaterThan(await left(after));
    expect(
      await before
        .locator('svg')
        .evaluate((svg) => svg.ownerDocument.defaultView.getComputedStyle(svg).transform),
    ).toContain('-1');
    await before.click();
    await ofRange(page, '?range=yesterday&zone=tehran');
  });
});

describe('single keys', () => {
  test('choose ranges and units, step, compare, find and remove filters', async () => {
    const { page } = await stage.analytics('?range=7d&zone=utc&segment=device==mobile');
    const press = (key: string): Promise<void> => page.keyboard.press(key);
    await press('x');
    await ofRange(page, '?zone=utc');
    await press('m');
    await ofRange(page, '?range=28d&zone=utc');
    await press('3');
    await ofRange(page, '?range=28d&zone=utc&by=week');
    await press('t');
    await press('p');
    await ofRange(page, '?range=yesterday&zone=utc&by=week');
    await eventually(() => textOf(page, '.period .unseen')).not.toBe('');
    await press('n');
    await press('c');
    await ofRange(page, '?range=today&zone=utc&compare=1&by=week');
    await press('f');
    expect(await page.evaluate('document.activeElement.id')).toBe('find-in-lists');
    // In a field they are letters.
    await press('w');
    await press('?');
    await eventually(() => new URL(page.url()).searchParams.get('find')).toBe('w?');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('work on a Persian keyboard, and leave those of the browser alone', async () => {
    const { page } = await stage.analytics('?zone=utc', { language: 'fa' });
    const press = (init: object): Promise<boolean> =>
      page.evaluate(
        `document.body.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...${JSON.stringify(init)} }))`,
      ) as Promise<boolean>;
    for (const part of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }]) {
      expect(await press({ key: 't', code: 'KeyT', ...part })).toBe(true);
    }
    expect(searchOf(page)).toBe('?zone=utc');
    expect(await press({ key: 'ف', code: 'KeyT' })).toBe(false);
    await ofRange(page, '?range=today&zone=utc');
    await press({ key: '؟', code: 'Slash', shiftKey: true });
    await page.getByRole('dialog').getByText('میان‌برهای صفحه‌کلید').waitFor();
  });

  test('? lists them; they can be switched off for this browser', async () => {
    const { page, context } = await stage.analytics('?zone=utc');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Keyboard shortcuts').waitFor();
    expect(await dialog.locator('kbd').allTextContents()).toEqual([...'PNTYHWMQA1234CFX?']);
    expect(await findings(page)).toEqual([]);
    // A window is open: keys are its own.
    await page.keyboard.press('t');
    await dialog.getByLabel('Use single keys').uncheck();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('t');
    await page.keyboard.press('?');
    const other = await context.newPage();
    await other.goto(page.url());
    await other.locator('.tile-value').first().waitFor();
    await other.keyboard.press('t');
    expect([searchOf(page), searchOf(other), await dialog.count()]).toEqual(['?zone=utc', '?zone=utc', 0]);
    await other.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await other.getByLabel('Use single keys').check();
    await other.keyboard.press('Escape');
    await other.getByRole('dialog').waitFor({ state: 'detached' });
    await other.keyboard.press('t');
    await ofRange(other, '?range=today&zone=utc');
  });
});
