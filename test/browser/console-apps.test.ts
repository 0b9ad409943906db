import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/clickhouse/sql.ts';
import { formatOf } from '../../src/console/i18n/format.ts';
import { withService } from '../http/operations.ts';
import { batchFor, post } from '../http/sdk-events/support.ts';
import { newVisitor, openBrowser } from './chromium.ts';
import { findings, signedIn } from './console.ts';
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
  // A scheme is offered to a bare domain.
  await page.getByLabel('Domain').fill('yalda.ir');
  await page.getByRole('button', { name: 'Use https://yalda.ir' }).click();
  expect(await page.getByLabel('Domain').inputValue()).toBe('https://yalda.ir');
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
  const asked = page.getByRole('dialog', { name: 'Rotate the secret' });
  await asked.getByText('stops working at the end of the time').waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();
  expect(await snippet(page), 'nothing is done before it is confirmed').toBe(first);
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  await asked.getByRole('button', { name: 'Rotate now' }).click();
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

test('an owner lets events expire, confirmed by the name, and sees from when on they are there; a viewer only sees it', async () => {
  const { account, app } = await service().newTenant();
  const DAY = 86_400_000;
  const startedAt = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY).toISOString();
  const events = [{ type: 'pageview' as const, path: '/' }];
  await service().record(
    [
      { startedAt: startedAt(50), events },
      { startedAt: startedAt(1), events },
    ],
    app,
  );
  await service().sealer.run();
  const { context, page, complaints, visit } = await signedIn(browser, service(), account);
  await visit(`/apps/${app}/settings`);
  const section = page.getByRole('region', { name: 'Retention' });
  await section.getByText('Events are kept for ever.').waitFor();
  await section.getByRole('button', { name: 'Change the retention' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Days').fill('30');
  const confirm = dialog.getByRole('button', { name: 'Set the retention' });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel(/type the app’s name/).fill('Shop');
  expect(await findings(page)).toEqual([]);
  await confirm.click();
  await section.getByText('Events are kept for 30 days.').waitFor();
  expect(await section.textContent()).not.toContain('Single events are there');

  // As if the setting were made a day ago, by the store's clock.
  const age = sql`ALTER TABLE app_retention UPDATE set_at = set_at - INTERVAL 1 DAY WHERE 1`;
  await service().db.command('age', sql`${age} SETTINGS mutations_sync = 1`);
  await service().sealer.run();
  await page.reload();
  const { exactFrom } = await service().metadata.retentionOf(app);
  const day = formatOf('en-GB').date(exactFrom ?? '', 'UTC');
  await section.getByText(`Single events are there from ${day} on.`).waitFor();

  await service().metadata.setMember(account, 'ada@example.com', 'viewer');
  const viewing = { email: 'ada@example.com', language: 'fa' as const };
  const viewer = await signedIn(browser, service(), account, viewing);
  await viewer.visit(`/apps/${app}/settings`);
  const seen = viewer.page.getByRole('region', { name: 'نگهداری' });
  await seen.getByText('رویدادها ۳۰ روز نگه داشته می‌شوند.').waitFor();
  const button = seen.getByRole('button');
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await button.click({ force: true });
  expect(await viewer.page.getByRole('dialog').count()).toBe(0);
  expect([...complaints, ...viewer.complaints]).toEqual([]);
  await viewer.context.close();
  await context.close();
});

test('an owner lists the addresses of own visits, whose events are left out; a viewer only sees the list', async () => {
  const tenant = await service().newTenant();
  const { account, app } = tenant;
  const sent = async () => (await post(service(), batchFor(tenant))).json;
  const { context, page, complaints, visit } = await signedIn(browser, service(), account);
  await visit(`/apps/${app}/settings`);
  const section = page.getByRole('region', { name: 'Own visits' });
  const list = section.getByLabel('Addresses');
  const save = section.getByRole('button', { name: 'Save the addresses' });
  await list.fill('192.0.2.7\noffice');
  await save.click();
  expect(await section.getByRole('alert').textContent()).toContain('office');
  expect(await sent(), 'a wrong list changes nothing').toEqual({ accepted: 1, rejected: [] });
  await list.fill('192.0.2.7, 127.0.0.1\n2001:DB8::/32');
  await save.click();
  await expect.poll(() => list.inputValue()).toBe('192.0.2.7/32\n127.0.0.1/32\n2001:db8::/32');
  expect(await section.getByRole('alert').count()).toBe(0);
  expect(await findings(page)).toEqual([]);
  expect(await sent()).toMatchObject({ accepted: 0, rejected: [{ code: 'excluded' }] });

  await service().metadata.setMember(account, 'ada@example.com', 'viewer');
  const viewer = await signedIn(browser, service(), account, { email: 'ada@example.com', language: 'fa' });
  await viewer.visit(`/apps/${app}/settings`);
  const seen = viewer.page.getByRole('region', { name: 'بازدیدهای خودتان' });
  expect(await seen.getByRole('textbox').inputValue()).toContain('2001:db8::/32');
  expect(await seen.getByRole('textbox').isDisabled()).toBe(true);
  expect(await seen.getByRole('button').getAttribute('aria-disabled')).toBe('true');
  await viewer.context.close();

  await list.fill('');
  await save.click();
  await expect.poll(() => service().metadata.exclusionsOf(app)).toEqual({ appId: app, addresses: [] });
  expect(await sent()).toEqual({ accepted: 1, rejected: [] });
  expect([...complaints, ...viewer.complaints]).toEqual([]);
  await context.close();
});

test('in Persian, days are written in Persian digits', async () => {
  const { account, app } = await service().newTenant();
  const { context, page, visit } = await signedIn(browser, service(), account, { language: 'fa' });
  await visit(`/apps/${app}/settings`);
  const section = page.getByRole('region', { name: 'نگهداری' });
  await section.getByRole('button').click();
  const dialog = page.getByRole('dialog');
  const days = dialog.getByLabel('روز', { exact: true });
  await days.fill('30 ۰ days');
  expect(await days.inputValue()).toBe('۳۰۰');
  await dialog.getByLabel(/نام برنامه/).fill('Shop');
  await dialog.locator('button[type="submit"]').click();
  await section.getByText('رویدادها ۳۰۰ روز نگه داشته می‌شوند.').waitFor();
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

test('a wrong field is explained in the language of the console', async () => {
  const { account } = await service().newAccount();
  const { context, page, visit } = await signedIn(browser, service(), account, { language: 'fa' });
  await visit('');
  await page.locator('main header button').click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input').first().fill('فروشگاه');
  await dialog.locator('input').last().fill('https://shop.example/path');
  await dialog.locator('button[type="submit"]').click();
  const told = (await dialog.getByRole('alert').textContent()) ?? '';
  expect(told).toContain('دامنه باید نشانی یک سایت باشد');
  expect(told).not.toMatch(/must|Must/);
  await context.close();
});
