import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Collector, Event } from './collector.ts';

export const APP_ID = '5f0c6a52-3f0e-4c39-9d7e-0a4b7f3f7a10';
export const SECRET = 'app_secret_test';

/** The script tag as in the documentation. */
export const tag = (
  service: string,
  attributes = '',
  { appId, secretKey } = { appId: APP_ID, secretKey: SECRET },
): string =>
  `<script defer src="${service}/sdk.js" data-app-id="${appId}" data-secret-key="${secretKey}" ${attributes}></script>`;

/** Waits until the service has answered for every event in the site's queue. */
export const drained = (page: Page): Promise<void> =>
  expect
    .poll(() => page.evaluate('Object.keys(localStorage).filter((key) => /^sa:.*:q/.test(key)).length'))
    .toBe(0);

export const track = (page: Page, name: string): Promise<unknown> =>
  page.evaluate(`sessionAnalytics.track(${JSON.stringify(name)})`);

/** Makes the page believe that its tab was hidden or shown. Playwright keeps every page visible. */
export const show = (page: Page, state: 'visible' | 'hidden'): Promise<unknown> =>
  page.evaluate(`
    if ('${state}' === 'visible') delete document.hidden;
    else Object.defineProperty(document, 'hidden', { configurable: true, value: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);

/** Events in short form: type, path and content. A duration is only marked as present. */
export const brief = (events: readonly Event[]): string[] =>
  events.map((event) => {
    const { type, path } = event;
    if (type === 'click') return `${type} ${path} ${event.target}`;
    if (type === 'error') return `${type} ${path} ${event.message}`;
    if (type === 'custom') return `${type} ${path} ${event.name}`;
    return `${type} ${path}`;
  });

/** Waits for events that the collector has counted. */
export const counted = (collector: Collector, ...events: string[]): Promise<void> =>
  expect.poll(() => brief(collector.events())).toEqual(expect.arrayContaining(events));
