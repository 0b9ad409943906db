import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { SessionSeed } from '../../src/testing/types.ts';
import { eventually, rowsOf, textOf } from './analytics.ts';
import { DAY_MS, KPIS, withAnalytics } from './analytics-page.ts';

const stage = withAnalytics();
describe('live', () => {
  /** A visit that begins now. */
  const visit = (path: string): SessionSeed => {
    const startedAt = new Date(stage.service.clock.now().getTime()).toISOString();
    return {
      id: randomUUID(),
      visitorId: randomUUID(),
      startedAt,
      context: { location: { country: 'IS', city: 'Akureyri', latitude: 65.68, longitude: -18.1 } },
      events: [{ type: 'pageview', timestamp: startedAt, path }],
    };
  };
  const streams = (page: Page): { opened: number; ended: number } => {
    const count = { opened: 0, ended: 0 };
    page.on('request', (request) => {
      if (request.headers()['accept'] === 'text/event-stream') count.opened++;
    });
    page.on('requestfailed', (request) => {
      if (request.headers()['accept'] === 'text/event-stream') count.ended++;
    });
    return count;
  };

  test('an event changes the page, by one stream', async () => {
    const visitor = await stage.owner();
    const { page } = visitor;
    const count = streams(page);
    await visitor.visit(`/apps/${stage.service.app}?range=7d&find=live-page`);
    await page.locator('.live[data-state=live]').waitFor();
    await page.getByText('Nothing with “live-page”.').first().waitFor();
    const before = await textOf(page, '[data-figure=sessions] .tile-value');
    await stage.service.record([visit('/live-page')]);
    await eventually(() => textOf(page, '[data-figure=sessions] .tile-value')).not.toBe(before);
    await eventually(() => rowsOf(page, 'Pages')).toEqual([['/live-page', '1', '1']]);
    expect(count.opened).toBe(1);
  });

  test('a past range has no stream, and a hidden tab holds none', async () => {
    const visitor = await stage.owner();
    const { page } = visitor;
    const count = streams(page);
    await visitor.visit(`/apps/${stage.service.app}?range=yesterday`);
    await page.locator('.live[data-state=past]').waitFor();
    await page.locator('.sparkline .line-first').first().waitFor();
    expect(count).toEqual({ opened: 0, ended: 0 });
    await page.getByLabel('Range').selectOption('today');
    await page.locator('.live[data-state=live]').waitFor();
    await page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, value: true });
       document.dispatchEvent(new Event('visibilitychange'));`,
    );
    await eventually(() => count).toEqual({ opened: 1, ended: 1 });
    await page.evaluate(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'));`);
    await eventually(() => count.opened).toBe(2);
  });

  test('the first questions are asked once, and before the session is known', async () => {
    const day = (daysAgo: number): string =>
      new Date(stage.service.clock.now().getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    // A range that is over: no event makes the page ask again.
    const visitor = await stage.analytics(`?from=${day(9)}T00:00&to=${day(2)}T23:59`);
    await visitor.page.locator('.plot svg path').first().waitFor();
    const { requests } = visitor;
    const [kpis = ''] = requests.filter((url) => url.includes(KPIS));
    expect(requests.filter((url) => url === kpis)).toHaveLength(1);
    expect(requests.filter((url) => url.includes('/sessions/series'))).toHaveLength(1);
    // The page asks for its name once it is shown to somebody.
    expect(requests.indexOf(kpis)).toBeLessThan(requests.findIndex((url) => url.endsWith('/api/v1/apps')));
  });

  test('many windows show their figures: three of them stream, and a place that is free is taken', async () => {
    const { context, page: first } = await stage.analytics();
    const pages = [first];
    for (let i = 0; i < 7; i++) {
      const page = await context.newPage();
      pages.push(page);
      await page.goto(first.url());
      await page.locator('.tile-value').first().waitFor();
    }
    const live = async (): Promise<number> => {
      const states = await Promise.all(
        pages
          .filter((page) => !page.isClosed())
          .map((page) => page.locator('.live').getAttribute('data-state')),
      );
      return states.filter((state) => state === 'live').length;
    };
    await eventually(live).toBe(3);
    await first.close();
    await pages[1]?.close();
    await eventually(live).toBe(3);
  });
});
