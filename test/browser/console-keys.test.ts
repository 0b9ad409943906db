import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';
import { signedIn } from './console.ts';

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const statusWith = async (key: string): Promise<number> => {
  const { status } = await fetch(`${service().url}/api/v1/apps`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  return status;
};

/** The key that the open window shows, once its button has copied it. */
async function shownKey(page: Page): Promise<string> {
  const window = page.getByRole('dialog', { name: 'Your new key' });
  await window.waitFor();
  expect(await page.evaluate('document.activeElement.textContent'), 'the focus is in the window').toBe(
    'Done',
  );
  await window.getByRole('button', { name: 'Copy: Your new key' }).click();
  const key = String(await page.evaluate('navigator.clipboard.readText()'));
  expect(await window.getByRole('region', { name: 'Your new key' }).textContent()).toBe(key);
  return key;
}

test('a key is created, shown once, rotated with an overlap, and revoked', async () => {
  const { account } = await service().newAccount();
  const { context, page, complaints, visit } = await signedIn(browser, service(), account);
  await visit('/api-keys');

  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Name').fill('Nightly report');
  await page.getByLabel('The key works').selectOption('month');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
  const first = await shownKey(page);
  expect(await statusWith(first)).toBe(200);
  await page.keyboard.press('Escape');
  expect(await page.getByRole('dialog').isVisible(), 'Escape loses no key').toBe(true);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(first);

  const row = page.getByRole('row', { name: /Nightly report/ });
  expect(await row.textContent()).toContain(first.slice(0, 18));
  await row.getByRole('button', { name: 'Rotate Nightly report' }).click();
  await page.getByLabel('The old key works on').selectOption('hour');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const second = await shownKey(page);
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
  await page.getByRole('button', { name: 'Done' }).click();

  const replaced = page.getByRole('row', { name: /Replaced by a newer key/ });
  await replaced.getByRole('button', { name: 'Revoke Nightly report' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('row', { name: /Revoked/ }).waitFor();
  expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a viewer sees the keys, and reads why the buttons are off', async () => {
  const { account } = await service().newTenant();
  await service().metadata.by('operator').setMember(account, 'ada@example.com', 'viewer');
  const { context, page, visit } = await signedIn(browser, service(), account, { email: 'ada@example.com' });
  await visit('/api-keys');
  await page.getByText('you are a viewer').waitFor();
  const buttons = page.locator('main').getByRole('button');
  await buttons.nth(1).waitFor();
  for (const button of await buttons.all()) {
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await button.getAttribute('aria-description')).toContain('Ask an owner');
    await button.click({ force: true });
  }
  expect(await page.getByRole('dialog').count()).toBe(0);
  await context.close();
});

test('a name that the service refuses says why, and keeps what was typed', async () => {
  const { account } = await service().newAccount();
  const { context, page, visit } = await signedIn(browser, service(), account);
  await visit('/api-keys');
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Name').fill('a\u0001b');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('control characters');
  expect(await page.getByLabel('Name').inputValue()).toBe('a\u0001b');
  await context.close();
});
