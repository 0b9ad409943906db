import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';
import { openConsole, signedIn } from './console.ts';

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

test('loads from the service alone, and keeps to its policy', async () => {
  const { context, page, complaints, requests } = await signedIn(browser, service(), service().account);
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
  expect(complaints).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(`${service().url}/dashboard`))).toEqual([]);
  const { headers } = await fetch(`${service().url}/dashboard`).then((answer) => answer);
  expect(headers.get('Content-Security-Policy')).not.toContain('unsafe');
  await context.close();
});

test('speaks the language of the browser, in its direction', async () => {
  const { context, page, visit } = await openConsole(browser, service(), { language: 'fa' });
  await visit('');
  expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
    'fa',
    'rtl',
  ]);
  await context.close();
});
