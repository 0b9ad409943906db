import express from 'express';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoPage } from '../../src/demo/page.ts';
import { type TestService, testService } from '../http/support.ts';
import { newVisitor, openBrowser } from './chromium.ts';
import { serve } from './servers.ts';
import { drained } from './visit.ts';

let browser: Browser;
let service: TestService;
beforeAll(async () => {
  service = await testService();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

test('what people do on the demo’s page is in the answers', async () => {
  const app = express();
  const site = await serve('shop.test', app);
  const stats = service.url.replace('127.0.0.1', 'stats.test');
  const { metadata, account } = service;
  app.use(demoPage({ metadata, account, service: stats, site: site.origin }));
  const visitor = await newVisitor(browser);
  const page = await visitor.newPage();
  await page.goto(`${site.origin}/demo`);
  for (const selector of ['#buy', '#fail', '#file', '#search button', 'nav a']) await page.click(selector);
  const [opened] = await Promise.all([visitor.waitForEvent('page'), page.click('#out')]);
  await opened.close();
  await drained(page);

  const apps = await metadata.appsOfAccount(account);
  const { id } = apps.find(({ domain }) => domain === site.origin) ?? { id: 'none' };
  const { json } = await service.ask(`/api/v1/sessions/overview/extended?appId=${id}`);
  expect(json).toMatchObject({
    page: { pageviews: 2, topPages: [{ path: '/demo' }, { path: '/demo/shoes' }] },
    interaction: {
      topCustomEvents: ['File Download', 'Form: Submission', 'Outbound Link: Click', 'purchase'].map(
        (name) => ({
          name,
          count: 1,
        }),
      ),
    },
    error: { topErrors: [{ message: 'Object {"code":"demo","about":"thrown on purpose"}', count: 1 }] },
  });
  await visitor.close();
  await site.close();
});
