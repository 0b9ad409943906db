import { readFileSync } from 'node:fs';
import type { Download, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { PageView } from '../../src/client/index.ts';
import { withAnalytics } from './analytics-page.ts';

const stage = withAnalytics();
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
    const visitor = await stage.analytics();
    const text = await exported(visitor.page, 'Pages');
    const pages = await stage.answer<PageView[]>(visitor, '/sessions/pageviews');
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
    const { page } = await stage.analytics();
    await page.locator('.plot svg path').first().waitFor();
    const panels = await page.locator('.panel').count();
    expect(await page.getByRole('button', { name: / as CSV$/ }).count()).toBe(panels);
    expect(await exported(page, 'Growth')).toMatch(
      /^"from","sessions","visitors","pageviews","clicks"\r\n"\d{4}/,
    );
  });
});
