import { afterAll, beforeAll, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';
import { openConsole, signedIn } from './console.ts';

const service = withService();
let browser: Browser;
beforeAll(async () => { browser = await openBrowser(); });
afterAll(() => browser.close());
const DIR = '/tmp/rd/shots';
const now = Date.now();
const v = (ago: number, country = 'IR', path = '/pricing') => ({ startedAt: new Date(now - ago * 60_000).toISOString(), context: { location: { country } }, events: [{ type: 'pageview' as const, path }, { type: 'pageview' as const, path: '/' }] });
test('shots', async () => {
  const { account, app, key } = await service().newTenant();
  await service().ask('/api/v1/apps', { key, method: 'POST', body: { name: 'وبلاگ فروشگاه یلدا', domain: 'https://yalda.ir' } });
  await service().ask('/api/v1/apps', { key, method: 'POST', body: { name: 'Blog', domain: 'https://blog.example' } });
  await service().record(Array.from({ length: 120 }, (_, i) => v((i * i) % 9000 + i, i % 3 ? 'IR' : 'DE', `/p${i % 7}`)), app);
  await service().metadata.setMember(account, 'ada@example.com', 'owner');
  await service().metadata.setMember(account, 'bob@example.com', 'viewer');
  const by = service().metadata.by('ada@example.com');
  await by.createInvitation(account, 'bob@example.com');
  await by.createLink(app, { name: 'Board', segment: '', origins: [], expiresAt: null });
  const link = await by.createLink(app, { name: 'Partners', segment: 'country==IR;page!=/x', origins: ['https://partner.example'], expiresAt: (now + 9e8) as never });
  const old = await by.createLink(app, { name: 'Old', segment: '', origins: [], expiresAt: null });
  await by.revokeLink(app, old.linkId);
  for (const [language, scheme, width] of [['en', 'light', 1440], ['fa', 'dark', 1440], ['fa', 'light', 390], ['en', 'dark', 768]] as const) {
    const me = await signedIn(browser, service(), account, { language, scheme, width, email: 'ada@example.com' });
    const shot = (name: string, fullPage = false) => me.page.screenshot({ path: `${DIR}/${name}-${language}-${scheme}-${width}.png`, fullPage });
    await me.visit(''); await me.page.locator('.glance b').nth(2).waitFor(); await shot('apps');
    await me.visit('/members'); await me.page.waitForTimeout(500); await shot('members');
    await me.page.locator('main header button').click(); await me.page.waitForTimeout(400); await shot('invite');
    await me.visit(`/apps/${app}/settings`); await me.page.waitForTimeout(500);
    const s = me.page.locator('.section').nth(3); await s.scrollIntoViewIfNeeded(); await shot('links');
    await s.locator('.section-body > button').last().click(); await me.page.waitForTimeout(400); await shot('newlink');
    const d = me.page.getByRole('dialog'); await d.locator('input').first().fill('X'); await d.locator('textarea').first().fill('https://a.example'); await d.locator('button[type=submit]').click();
    await d.locator('.copy').nth(1).waitFor(); await shot('made');
    await me.context.close();
    const g = await openConsole(browser, service(), { language, scheme, width });
    for (const kind of ['shared', 'embed']) {
      await g.page.goto(`${service().url}/${kind}/${link.linkId}#${link.token}`);
      await g.page.locator('.tile').first().waitFor(); await g.page.waitForTimeout(1500);
      await g.page.screenshot({ path: `${DIR}/${kind}-${language}-${scheme}-${width}.png`, fullPage: kind === 'shared' });
    }
    await g.page.goto(`${service().url}/shared/${old.linkId}#${old.token}`); await g.page.locator('h1').waitFor();
    await g.page.screenshot({ path: `${DIR}/ended-${language}-${scheme}-${width}.png` });
    await g.context.close();
  }
}, 400_000);
