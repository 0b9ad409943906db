import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { newVisitor, openBrowser } from './chromium.ts';
import { signedIn } from './console.ts';
import { shop } from './servers.ts';

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** The snippet that the page shows. */
const snippet = async (page: Page): Promise<string> =>
  (await page.getByRole('region', { name: 'The snippet for your pages' }).textContent()) ?? '';

/** Opens a page of the shop with a snippet, as a visitor. */
async function visitShop(tag: string): Promise<void> {
  const site = await shop(service().url, () => tag);
  const visitor = await newVisitor(browser);
  const page = await visitor.newPage();
  const answered = page.waitForResponse((answer) => answer.url().endsWith('/sdk/v1/events'));
  await page.goto(site.origin);
  expect((await answered).status()).toBe(200);
  await visitor.close();
  await site.close();
}

test('an app is created, its first event turns the light green, its secret rotates, and it is deleted', async () => {
  const { account } = await service().newAccount();
  const { context, page, complaints, visit } = await signedIn(browser, service(), account);
  await visit('');
  await page.getByText('There is no app yet').waitFor();
  await page.getByRole('button', { name: 'Create an app' }).click();
  await page.getByLabel('Name').fill('Web shop');
  await page.getByLabel('Domain').fill('http://shop.test');
  await page.getByRole('dialog').getByRole('button', { name: 'Create an app' }).click();

  await page.getByRole('heading', { name: 'Settings of Web shop' }).waitFor();
  const first = await snippet(page);
  expect(first).toMatch(/data-secret-key="app_secret_\w+"/);
  const light = page.locator('.light');
  expect(await light.getAttribute('data-on')).toBe('false');
  await visitShop(first);
  await page.getByText('Events arrive.').waitFor();
  expect(await light.getAttribute('data-on')).toBe('true');

  await page.getByLabel('The old secret works on').selectOption('hour');
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  await page.getByText('The secret is rotated.').waitFor();
  const second = await snippet(page);
  expect(second).not.toBe(first);
  await visitShop(second);
  await visitShop(first);
  await page.reload();
  await page.getByRole('heading', { name: 'Set up' }).waitFor();
  expect(await snippet(page), 'a secret is shown once').toContain('app_secret_…');

  await page.getByRole('button', { name: 'Delete the app' }).click();
  const window = page.getByRole('dialog');
  expect(await window.getByRole('button', { name: 'Delete for good' }).isDisabled()).toBe(true);
  await window.getByRole('textbox').fill('Web shop');
  await window.getByRole('button', { name: 'Delete for good' }).click();
  await page.getByText('There is no app yet').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('an app is shared with another account, which then sees it, until the sharing ends', async () => {
  const [mine, theirs] = [await service().newTenant(), await service().newAccount()];
  const { context, page, visit } = await signedIn(browser, service(), mine.account);
  await visit(`/apps/${mine.app}/settings`);
  await page.getByText('Shared with nobody.').waitFor();
  await page.getByLabel('Id of the other account').fill('00000000-0000-4000-8000-000000000000');
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  expect(await page.getByRole('alert').textContent()).toContain('account');
  await page.getByLabel('Id of the other account').fill(theirs.account);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: theirs.account }).waitFor();

  const other = await signedIn(browser, service(), theirs.account);
  await other.visit('');
  const row = other.page.getByRole('row', { name: /Shared with you/ });
  await row.getByRole('link', { name: /Settings of/ }).click();
  await other.page.getByText('Another account owns this app').waitFor();

  await page.getByRole('button', { name: /End sharing with/ }).click();
  await page.getByText('Shared with nobody.').waitFor();
  await other.visit('');
  await other.page.getByText('There is no app yet').waitFor();
  await other.visit(`/apps/${mine.app}/settings`);
  await other.page.getByText('No access').waitFor();
  await other.context.close();
  await context.close();
});

test('a domain that another app of the account has is refused, with the reason', async () => {
  const { account } = await service().newTenant();
  const { context, page, visit } = await signedIn(browser, service(), account);
  await visit('');
  await page.getByRole('button', { name: 'Create an app' }).click();
  await page.getByLabel('Name').fill('Again');
  await page.getByLabel('Domain').fill('https://shop.example');
  await page.getByRole('dialog').getByRole('button', { name: 'Create an app' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('already has an app');
  await context.close();
});
