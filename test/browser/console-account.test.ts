import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';
import { findings, openConsole, signedIn } from './console.ts';

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

test('a stranger reads how to sign in, on every page', async () => {
  const { context, page, complaints, visit } = await openConsole(browser, service());
  for (const path of ['', '/api-keys', `/apps/${service().app}`]) {
    await visit(path);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.textContent('main')).toContain('session-analytics admin sign-in-link --account');
    expect(await page.textContent('main')).not.toContain('organisation');
  }
  expect(await findings(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a link signs in once; its token leaves the address', async () => {
  const { token } = await service().metadata.createSignInLink(service().account, '');
  const first = await openConsole(browser, service());
  await first.page.goto(`${service().url}/dashboard/sign-in#${token}`);
  await first.page.getByRole('heading', { name: 'Apps' }).waitFor();
  expect(first.page.url()).toBe(`${service().url}/dashboard`);
  await first.page.goBack();
  expect(first.page.url()).not.toContain(token);
  const second = await openConsole(browser, service());
  await second.page.goto(`${service().url}/dashboard/sign-in#${token}`);
  await second.page.getByText('This link does not work any more').waitFor();
  await Promise.all([first.context.close(), second.context.close()]);
});

test('a person signs out; a session that the operator ends says so', async () => {
  const { account } = await service().newTenant();
  const leaving = await signedIn(browser, service(), account);
  await leaving.page.getByRole('button', { name: 'Sign out' }).click();
  await leaving.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await leaving.visit('/api-keys');
  await leaving.page.getByRole('heading', { name: 'Sign in' }).waitFor();

  const ended = await signedIn(browser, service(), account);
  await service().metadata.endSessions(account);
  // The page may notice by itself, before the click.
  const said = ended.page.getByText('Your session has ended');
  const click = ended.page.getByRole('link', { name: 'Audit' }).click();
  await Promise.any([said.waitFor(), click.then(() => said.waitFor())]);
  await Promise.all([leaving.context.close(), ended.context.close()]);
});

test('a member of two accounts changes between them', async () => {
  const { metadata } = service();
  const [one, two] = [await service().newTenant(), await service().newAccount()];
  for (const { account } of [one, two]) await metadata.setMember(account, 'ada@example.com', 'viewer');
  await metadata.renameAccount(two.account, 'Second');
  const { context, page, visit } = await signedIn(browser, service(), one.account, {
    email: 'ada@example.com',
  });
  await page.getByRole('row', { name: /Shop/ }).waitFor();
  await page.getByLabel('Account', { exact: true }).selectOption('Second');
  await page.getByText('There is no app yet').waitFor();
  await visit('');
  await page.getByText('There is no app yet').waitFor();
  await context.close();
});

test('usage shows the requests of each key, and those that were refused', async () => {
  const { account, key } = await service().newTenant();
  const ask = () => fetch(`${service().url}/api/v1/apps`, { headers: { Authorization: `Bearer ${key}` } });
  const statuses = await Promise.all(Array.from({ length: 70 }, async () => (await ask()).status));
  const limited = statuses.filter((status) => status === 429).length;
  const { context, page, complaints, visit } = await signedIn(browser, service(), account);
  await visit('/usage');
  const cells = page.getByRole('row').nth(1).getByRole('cell');
  expect([await cells.nth(0).textContent(), await cells.nth(1).textContent()]).toEqual(['70', `${limited}`]);
  expect(await page.locator('.note').count()).toBe(limited > 0 ? 1 : 0);
  await page.getByRole('img', { name: 'Requests per hour: All keys' }).waitFor();
  await page.getByLabel('Key', { exact: true }).selectOption({ index: 1 });
  await page.getByRole('img', { name: /^Requests per hour: (?!All)/ }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('the audit says who did what, and shows a kind of deeds', async () => {
  const { account } = await service().newTenant();
  const owner = service().metadata.by('ada@example.com');
  const { keyId } = await owner.createKey(account, { name: 'CI', expiresAt: null });
  await service().metadata.setPlan(account, 'free');
  const { context, page, visit } = await signedIn(browser, service(), account);
  await visit('/audit');
  const made = page.getByRole('row').filter({ hasText: keyId });
  expect(await made.textContent()).toMatch(/ada@example\.com.*Created a key.*CI.*Done/);
  await page.getByRole('row').filter({ hasText: 'Changed the plan' }).waitFor();
  await page.getByLabel('Show').selectOption('Account');
  await made.waitFor({ state: 'detached' });
  await page.getByRole('row').filter({ hasText: 'Changed the plan' }).waitFor();
  await context.close();
});

test('a refused deed was only tried, and its reason is whole', async () => {
  const { account, ask } = await service().newTenant();
  const body = { name: 'Twin', domain: 'https://shop.example' };
  expect((await ask('/api/v1/apps', { method: 'POST', body })).status).toBe(409);
  const { context, page, visit } = await signedIn(browser, service(), account);
  await visit('/audit');
  const row = page.getByRole('row').filter({ hasText: 'Twin' });
  expect(await row.textContent()).toMatch(/Tried to create an app.*Refused.*domain_conflict/);
  const cut = '.mantine-Badge-label, .lines code';
  expect(
    await page
      .locator(cut)
      .evaluateAll(
        (all) => all.filter((each) => each.scrollWidth > each.clientWidth && each.clientWidth > 0).length,
      ),
  ).toBe(0);
  await context.close();
});

test('the language is chosen, kept, and turns the page around', async () => {
  const { context, page, visit } = await signedIn(browser, service(), service().account);
  await page.getByLabel('Language').selectOption('fa');
  await page.getByRole('heading', { name: 'برنامه‌ها' }).waitFor();
  expect(await page.evaluate('document.documentElement.dir')).toBe('rtl');
  await visit('/audit');
  await page.getByRole('heading', { name: 'گزارش رویدادها' }).waitFor();
  await context.close();
});
