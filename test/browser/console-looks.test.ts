import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';
import { findings, signedIn, type Visitor } from './console.ts';

const WIDTHS = [390, 768, 1440];
const SCHEMES = ['light', 'dark'] as const;
const LANGUAGES = ['en', 'fa'];

const service = withService();
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  browser = await openBrowser();
  await service().metadata.setMember(service().account, 'ada.lovelace.of.the.engine@example.com', 'owner');
  await service().metadata.setMember(service().account, 'bob@example.com', 'viewer');
  await service().metadata.createInvitation(service().account, 'bob@example.com');
  visitor = await signedIn(browser, service(), service().account);
});
afterAll(() => browser.close());

/** A page, and what is done there before it is looked at. */
const PAGES: readonly (readonly [string, string, (() => Promise<unknown>)?])[] = [
  ['apps', ''],
  ['a new app', '', () => visitor.page.locator('main header button').click()],
  ['the settings of an app', '/apps/:app/settings'],
  [
    'the deletion of an app',
    '/apps/:app/settings',
    () => visitor.page.locator('.section button').last().click(),
  ],
  [
    'a new link to an app',
    '/apps/:app/settings',
    () => visitor.page.locator('.section').nth(3).locator('.section-body > button').last().click(),
  ],
  ['members', '/members'],
  ['an invitation', '/members', () => visitor.page.locator('main header button').click()],
  ['API keys', '/api-keys'],
  ['usage', '/usage'],
  ['audit', '/audit'],
  ['signing in', '/sign-in'],
  ['a page that does not exist', '/nowhere'],
  ['a new key', '/api-keys', () => visitor.page.locator('main header button').click()],
];

/** What is wrong with the look of the page that is open: by axe, and what is cut off at the side. */
async function wrong(): Promise<string[]> {
  const { page } = visitor;
  const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...(await findings(page)), ...(isWider ? ['The page is wider than the window.'] : [])];
}

for (const [name, path, prepare] of PAGES) {
  test(`${name}: usable at each width, in light and dark, in both languages`, async () => {
    const { page, complaints, visit } = visitor;
    const found: string[] = [];
    for (const language of LANGUAGES) {
      await page.evaluate(`localStorage.setItem('console-language', '${language}')`);
      await visit(path.replace(':app', service().app));
      await expect.poll(() => page.locator('.loading').count()).toBe(0);
      await prepare?.();
      for (const scheme of SCHEMES) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          found.push(...(await wrong()).map((line) => `${language} ${scheme} ${width}: ${line}`));
        }
      }
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
  });
}
