import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';

/** A browser, and a service whose apps have links. It is set for the tests of the calling file. */
export function withLinks() {
  const service = withService();
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  const visit = (country: string, path: string) => ({
    startedAt: new Date().toISOString(),
    context: { location: { country } },
    events: [{ type: 'pageview' as const, path }],
  });
  /** An app with a visit from each of two countries. */
  const site = async () => {
    const tenant = await service().newTenant();
    await service().record([visit('IR', '/of-iran'), visit('DE', '/of-germany')], tenant.app);
    return tenant;
  };
  return {
    get browser() {
      return browser;
    },
    get service() {
      return service();
    },
    site,
    made: (
      app: Awaited<ReturnType<typeof site>>['app'],
      more: { readonly segment?: string; readonly origins?: string[] } = {},
    ) =>
      service().metadata.createLink(app, {
        name: 'Board',
        segment: '',
        origins: [],
        expiresAt: null,
        ...more,
      }),
    addressOf: ({ linkId, token }: { readonly linkId: string; readonly token: string }, kind = 'shared') =>
      `${service().url}/${kind}/${linkId}#${token}`,
  };
}
