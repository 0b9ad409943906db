import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { formatOf } from '../../src/console/i18n/format.ts';
import type { SessionSeed } from '../../src/testing/types.ts';
import { eventually, panel, textOf } from './analytics.ts';
import { DAY_MS, withAnalytics } from './analytics-page.ts';
import { signedIn } from './console.ts';

const stage = withAnalytics();
const format = formatOf('en-GB');

describe('states', () => {
  test('an app of another account: no access, and what to do', async () => {
    const other = await stage.service.newTenant();
    const visitor = await stage.owner();
    await visitor.page.goto(`${stage.service.url}/dashboard/apps/${other.app}`);
    await visitor.page.getByText('Ask its owner to share it with your account.').waitFor();
  });

  test('an app without visits says what to do', async () => {
    const empty = await stage.service.newTenant();
    const visitor = await signedIn(stage.browser, stage.service, empty.account);
    stage.closeLater(visitor);
    await visitor.visit(`/apps/${empty.app}`);
    await visitor.page.getByText('There are no visits yet').waitFor();
    await visitor.page.locator('.state').getByRole('link', { name: 'Settings', exact: true }).click();
    await eventually(() => new URL(visitor.page.url()).pathname).toMatch(/\/settings$/);
  });

  test('a range without visits offers the days of those that there are', async () => {
    const old = await stage.service.newTenant();
    const startedAt = new Date(stage.service.clock.now().getTime() - 500 * DAY_MS).toISOString();
    const day = startedAt.slice(0, 10);
    const first: SessionSeed = {
      id: randomUUID(),
      visitorId: randomUUID(),
      startedAt,
      events: [{ type: 'pageview', timestamp: startedAt, path: '/old' }],
    };
    await stage.service.record([first], old.app);
    const visitor = await signedIn(stage.browser, stage.service, old.account);
    stage.closeLater(visitor);
    await visitor.visit(`/apps/${old.app}?range=365d`);
    await visitor.page.getByRole('button', { name: `Show ${format.date(startedAt)}` }).click();
    expect(new URL(visitor.page.url()).search).toBe(`?from=${day}T00:00&to=${day}T23:59&zone=utc`);
    await eventually(() => textOf(visitor.page, '[data-figure=sessions] .tile-value')).toBe('1');
  });

  test('an error says what failed, and can be tried again', async () => {
    const visitor = await stage.owner();
    const { page } = visitor;
    const broken = '**/api/v1/sessions/pageviews**';
    await page.route(broken, (route) => route.fulfill({ status: 500, contentType: 'text/plain', body: '' }));
    await visitor.visit(`/apps/${stage.service.app}?range=yesterday`);
    const pages = panel(page, 'Pages');
    await pages.getByRole('alert').waitFor();
    await page.unroute(broken);
    await pages.getByRole('button', { name: 'Try again' }).click();
    await pages.locator('tbody tr').first().waitFor();
  });
});
