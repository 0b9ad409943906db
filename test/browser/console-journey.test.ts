import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { newVisitor, openBrowser } from './chromium.ts';
import { signedIn } from './console.ts';
import { shop } from './servers.ts';

const run = promisify(execFile);
const MOST_STEPS = 60;

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => {
    const { activeElement: at } = document;
    return at?.getAttribute('aria-label') ?? at?.labels?.[0]?.textContent ?? at?.textContent ?? '';
  })()`;
  for (let step = 0; step < MOST_STEPS; step++) {
    if (String(await page.evaluate(focused)).trim() === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${name}.`);
}

test('by keyboard alone: over the navigation, a key, an app, and out', async () => {
  const { account } = await service().newAccount();
  const { context, page, complaints } = await signedIn(browser, service(), account);
  await page.keyboard.press('Tab');
  await tabTo(page, 'Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('content');

  await tabTo(page, 'API keys');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.getByRole('row', { name: 'default' }).waitFor();
  await tabTo(page, 'Create a key');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, 'Name');
  await page.keyboard.type('By hand');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
  await tabTo(page, 'Copy: Your new key');
  await page.keyboard.press('Enter');
  const key = String(await page.evaluate('navigator.clipboard.readText()'));
  await tabTo(page, 'Done');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Create a key');
  // As people use it: by the real curl, with the key in its environment.
  const call = `curl -s --fail-with-body -H "Authorization: Bearer $API_KEY" '${service().url}/api/v1/apps'`;
  const curl = await run('sh', ['-c', call], { env: { ...process.env, API_KEY: key } });
  expect(JSON.parse(curl.stdout)).toEqual([]);

  await tabTo(page, 'Apps');
  await page.keyboard.press('Enter');
  await page.getByText('There is no app yet').waitFor();
  await tabTo(page, 'Create an app');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Create an app');

  await tabTo(page, 'Sign out');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('an owner shares an app that a visitor uses; a viewer of the other account sees it live', async () => {
  const { metadata } = service();
  const [mine, theirs] = [await service().newAccount(), await service().newAccount()];
  const created = await metadata.createApp(
    { accountId: mine.account, actor: 'operator' } as Parameters<typeof metadata.createApp>[0],
    { name: 'Web shop', domain: 'http://shop.test' },
  );
  await metadata.setMember(theirs.account, 'bob@example.com', 'viewer');
  const viewer = await signedIn(browser, service(), theirs.account, { email: 'bob@example.com' });
  await viewer.visit(`/apps/${created.id}`);
  await viewer.page.getByText('No access').waitFor();

  const owner = await signedIn(browser, service(), mine.account);
  await owner.visit(`/apps/${created.id}/settings`);
  await owner.page.getByLabel('Id of the other account').fill(theirs.account);
  await owner.page.getByRole('button', { name: 'Share', exact: true }).click();
  await owner.page.getByRole('listitem').filter({ hasText: theirs.account }).waitFor();

  const tag = `<script defer src="${service().url}/sdk.js" data-app-id="${created.id}" data-secret-key="${created.secretKey}"></script>`;
  const site = await shop(service().url, () => tag);
  const visitor = await newVisitor(browser);
  const shopping = await visitor.newPage();
  const stored = shopping.waitForResponse((answer) => answer.url().endsWith('/sdk/v1/events'));
  await shopping.goto(`${site.origin}/landing`);
  expect((await stored).status()).toBe(200);
  await owner.page.getByText('Events arrive.').waitFor();

  await viewer.visit(`/apps/${created.id}`);
  await viewer.page.getByText('/landing').first().waitFor();
  const more = shopping.waitForResponse((answer) => answer.url().endsWith('/sdk/v1/events'));
  await shopping.goto(`${site.origin}/pricing`);
  await more;
  await viewer.page.getByText('/pricing').first().waitFor();
  expect(viewer.complaints).toEqual([]);
  for (const { requests } of [owner, viewer])
    expect(requests.filter((url) => !url.startsWith(`${service().url}/dashboard`))).toEqual([]);
  await Promise.all([owner, viewer].map(({ context }) => context.close()));
  await visitor.close();
  await site.close();
});
