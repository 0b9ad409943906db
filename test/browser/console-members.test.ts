import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { gateTo } from './analytics.ts';
import { openBrowser } from './chromium.ts';
import { findings, openConsole, signedIn } from './console.ts';

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

test('an owner invites a viewer, makes the viewer an owner, and removes them; the last owner stays', async () => {
  const { account } = await service().newTenant();
  await service().metadata.setMember(account, 'ada@example.com', 'owner');
  const ada = { email: 'ada@example.com' };
  const { context, page, complaints, visit } = await signedIn(browser, service(), account, ada);
  await visit('/members');
  const row = (email: string) => page.getByRole('row').filter({ hasText: email });
  expect(
    await row('ada@example.com')
      .getByRole('button', { name: /^Remove/ })
      .count(),
  ).toBe(0);
  await page.getByRole('button', { name: 'Invite somebody' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail address').fill('Bob@Example.com');
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  const address = (await page.getByRole('region', { name: 'The link' }).textContent()) ?? '';
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await row('bob@example.com').getByText('Works until').waitFor();

  // To invite a member changes no role.
  await page.getByRole('button', { name: 'Invite somebody' }).click();
  await dialog.getByLabel('E-mail address').fill('bob@example.com');
  await dialog.getByLabel('Role').selectOption('Owner');
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  expect(await dialog.getByRole('alert').textContent()).toBe(
    'This person is a member with another role. Change the role in the list of members first.',
  );
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await page.getByLabel('Role of bob@example.com').inputValue()).toBe('viewer');

  const bob = await openConsole(browser, service());
  await bob.page.goto(address);
  await bob.page.getByRole('heading', { name: 'Apps' }).waitFor();
  await bob.visit('/members');
  expect(await bob.page.getByRole('button', { name: 'Invite somebody' }).getAttribute('aria-disabled')).toBe(
    'true',
  );
  await page.reload();
  await row('bob@example.com').getByText('None').waitFor();

  await page.getByLabel('Role of bob@example.com').selectOption('owner');
  await row('ada@example.com')
    .getByRole('button', { name: /^Remove/ })
    .waitFor();
  await row('bob@example.com')
    .getByRole('button', { name: /^Remove/ })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row('bob@example.com').waitFor({ state: 'detached' });
  await bob.page.getByRole('link', { name: 'Audit' }).click();
  await bob.page.getByText('Your session has ended').waitFor();
  expect([...complaints, ...bob.complaints]).toEqual([]);
  await bob.context.close();
  await context.close();
});

test.each(['en', 'fa'] as const)(
  '%s: a card begins with its name, at its beginning, and a role is not cut',
  async (language) => {
    const { account } = await service().newTenant();
    await service().metadata.setMember(account, 'ada@example.com', 'owner');
    await service().metadata.setMember(account, 'bob@example.com', 'viewer');
    const { context, page, visit } = await signedIn(browser, service(), account, { language, width: 390 });
    await visit('/members');
    const name = await page.getByText('bob@example.com', { exact: true }).boundingBox();
    const card = await page.getByRole('row').filter({ hasText: 'bob@example.com' }).boundingBox();
    if (name === null || card === null) throw new Error('They are not shown.');
    const isLeft = name.x + name.width / 2 < card.x + card.width / 2;
    expect(isLeft).toBe(language === 'en');
    await page.setViewportSize({ width: 768, height: 900 });
    const [shown = 0, needed = 0] = (await page.evaluate(`(() => {
      const select = document.querySelector('.data-table select');
      const width = select.offsetWidth;
      select.style.width = 'max-content';
      return [width, select.offsetWidth];
    })()`)) as number[];
    expect(shown).toBeGreaterThanOrEqual(needed);
    await context.close();
  },
);

const at = (ms: number): string => new Date(ms).toISOString();
const visitAt = (ms: number) => ({ startedAt: at(ms), events: [{ type: 'pageview' as const, path: '/' }] });
const DAY_MS = 86_400_000;

test('the list of apps shows each app’s visitors of today against the same time of yesterday', async () => {
  const { account, app } = await service().newTenant();
  const now = Date.now();
  const midnight = now - (now % DAY_MS);
  // By UTC: now, and yesterday before and after the same minute.
  await service().record(
    [
      ...[0, 1, 2].map(() => visitAt(Math.max(midnight, now - 60_000))),
      ...[0, 1].map(() => visitAt(midnight - DAY_MS)),
      visitAt(Math.min(midnight - 1, now - DAY_MS + 3_600_000)),
    ],
    app,
  );
  const { context, page, complaints, visit, requests } = await signedIn(browser, service(), account);
  await visit('');
  const glance = page.locator('.glance');
  await expect.poll(() => glance.locator('b').textContent()).toBe('3');
  // The one after the same minute does not count.
  expect(await glance.textContent()).toContain('Yesterday until the same minute: 2');
  expect(await glance.textContent()).toContain('3 in the last 5 minutes');
  expect(requests.filter((url) => url.includes('/v1/sessions/')).length).toBe(3);
  expect(await findings(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('rows out of view ask nothing, and a service that is away leaves no figures', async () => {
  const { account, key } = await service().newTenant();
  for (let i = 0; i < 30; i++) {
    const body = { name: `Site ${i}`, domain: `https://s${i}.example` };
    await service().ask('/api/v1/apps', { key, method: 'POST', body });
  }
  const gate = await gateTo(service().url);
  const behind = { ...service(), url: gate.url };
  const { context, page, requests, visit } = await signedIn(browser, behind, account);
  await visit('');
  await page.getByRole('row').nth(31).waitFor({ state: 'attached' });
  await page.locator('.glance b').first().waitFor();
  const asked = () => new Set(requests.flatMap((url) => new URL(url).searchParams.get('appId') ?? []));
  await expect.poll(() => page.locator('.glance b').count()).toBeGreaterThan(5);
  expect(asked().size).toBeLessThan(25);
  await gate.stop();
  // What is asked for now fails.
  await page.getByRole('row').nth(31).scrollIntoViewIfNeeded();
  await page.getByText('Not known now').last().waitFor();
  await gate.go();
  await expect.poll(() => page.getByText('Not known now').count(), { timeout: 30_000 }).toBe(0);
  await gate.stop();
  await context.close();
});
