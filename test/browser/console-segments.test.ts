import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from './analytics.ts';
import { withAnalytics } from './analytics-page.ts';
import { findings, signedIn } from './console.ts';

const stage = withAnalytics();
const PHONES = 'device==mobile';
const segmentOf = (page: Page): string | null => new URL(page.url()).searchParams.get('segment');
const saved = async (): Promise<[name: string, segment: string][]> =>
  (await stage.service.metadata.listSegments(stage.service.account)).map(({ name, segment }) => [
    name,
    segment,
  ]);

beforeEach(async () => {
  const { metadata, account } = stage.service;
  for (const { segmentId } of await metadata.listSegments(account))
    await metadata.deleteSegment(account, segmentId);
});

describe('saved segments', () => {
  test('filters are saved under a name, and applied, renamed and deleted by it', async () => {
    const { page, complaints } = await stage.analytics(`?segment=${PHONES}`);
    await page.getByRole('button', { name: 'Save as a segment …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Device is Phone').waitFor();
    await page.keyboard.type('Phones');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    // The button is gone, so the focus is where the segment has its name.
    await eventually(() => page.evaluate('document.activeElement.selectedOptions?.[0].textContent')).toBe(
      'Phones',
    );
    expect(await page.getByRole('button', { name: 'Save as a segment …' }).count()).toBe(0);
    expect(await saved()).toEqual([['Phones', PHONES]]);
    await page.getByLabel('Segment', { exact: true }).selectOption('All visits');
    await eventually(() => segmentOf(page)).toBeNull();
    await page.getByLabel('Segment', { exact: true }).selectOption('Phones');
    await eventually(() => segmentOf(page)).toBe(PHONES);
    await page.getByRole('button', { name: 'Remove the filter: Device is Phone' }).click();
    await page.getByRole('button', { name: 'Manage …' }).click();
    await dialog.getByRole('button', { name: 'Rename Phones' }).click();
    await page.keyboard.type('Small screens');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Delete Small screens' }).waitFor();
    await dialog.getByRole('button', { name: /^Small screens/ }).click();
    await eventually(() => segmentOf(page)).toBe(PHONES);
    await page.getByRole('button', { name: 'Manage …' }).click();
    await dialog.getByRole('button', { name: 'Delete Small screens' }).click();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByText('No segment is saved.').waitFor();
    expect(await saved()).toEqual([]);
    expect(segmentOf(page)).toBe(PHONES);
    expect(complaints).toEqual([]);
  });

  test('a name that is there gets the filters of the page', async () => {
    const { metadata, account } = stage.service;
    await metadata.saveSegment(account, { name: 'Mine', segment: 'country==IR' });
    const { page } = await stage.analytics(`?segment=${PHONES}`);
    await page.getByLabel('Segment', { exact: true }).waitFor();
    expect(await page.getByLabel('Segment', { exact: true }).inputValue()).toBe('own');
    await page.getByRole('button', { name: 'Save as a segment …' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('mine');
    await page.getByRole('button', { name: 'Replace' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save as a segment …' }).waitFor({ state: 'detached' });
    expect(await saved()).toEqual([['Mine', PHONES]]);
  });

  test('the service refuses: the window says why, and stays', async () => {
    const { metadata, account } = stage.service;
    const { page } = await stage.analytics(`?segment=${PHONES}`);
    await page.getByRole('button', { name: 'Save as a segment …' }).click();
    // Somebody else was faster.
    await metadata.saveSegment(account, { name: 'Taken', segment: 'country==IR' });
    await page.getByRole('dialog').getByLabel('Name').fill('Taken');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('The account has a saved segment with this name.').waitFor();
  });

  test('a viewer applies them, and is told why nothing can be changed', async () => {
    const { metadata, account, app } = stage.service;
    await metadata.saveSegment(account, { name: 'Phones', segment: PHONES });
    await metadata.setMember(account, 'viewer@example.com', 'viewer');
    const visitor = stage.closeLater(
      await signedIn(stage.browser, stage.service, account, { email: 'viewer@example.com' }),
    );
    const { page } = visitor;
    await visitor.visit(`/apps/${app}`);
    await page.getByLabel('Segment', { exact: true }).selectOption('Phones');
    await eventually(() => segmentOf(page)).toBe(PHONES);
    await page.getByRole('button', { name: 'Manage …' }).click();
    const rename = page.getByRole('button', { name: 'Rename Phones' });
    expect(await rename.getAttribute('aria-description')).toContain('A viewer cannot change anything.');
    await rename.click({ force: true });
    expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(0);
  });

  test('in Persian, on a phone: the window is accessible and nothing is cut off', async () => {
    const { metadata, account } = stage.service;
    const name = 'بازدیدهای تلفن همراه از جست‌وجو و شبکه‌های اجتماعی';
    const saved = await metadata.saveSegment(account, { name, segment: PHONES });
    const { page } = await stage.analytics(`?segment=${PHONES}`, {
      language: 'fa',
      width: 390,
      scheme: 'dark',
    });
    await page.getByRole('button', { name: 'مدیریت …' }).click();
    await page.getByRole('dialog').getByText('دستگاه برابر است با تلفن').waitFor();
    expect(await findings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(await page.getByLabel('بخش', { exact: true }).inputValue()).toBe(saved.segmentId);
  });
});
