import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { withService } from '../http/operations.ts';
import type { TestService } from '../http/support.ts';
import { openBrowser } from './chromium.ts';
import { openConsole, signedIn, type Viewing, type Visitor } from './console.ts';
import { demoVisits } from './demo-visits.ts';

export const DAY_MS = 86_400_000;
const DAYS = 15;
export const KPIS = '/sessions/overview/kpis';

/** A service with visits of the last days, and the browser of an owner. */
export interface AnalyticsStage {
  readonly browser: Browser;
  readonly service: TestService;
  /** An owner of the account, in a browser of their own. It is closed after the test. */
  owner(viewing?: Viewing): Promise<Visitor>;
  /** Opens the analytics of the app; `search` is the view. */
  analytics(search?: string, viewing?: Viewing): Promise<Visitor>;
  /** Closes this one after the test, too. */
  closeLater(visitor: Visitor): Visitor;
  /** The newest answer that a page got from a path, asked for again with the key. */
  answer<T>(visitor: Pick<Visitor, 'requests'>, path: string): Promise<T>;
  /** The day so many days ago, by UTC: `2026-11-20`. */
  dayAgo(days: number): string;
}

/** Sets the stage for the tests of the calling file. */
export function withAnalytics(): AnalyticsStage {
  const service = withService();
  const stage = {} as { browser: Browser };
  const open: Visitor[] = [];
  let cookies: Awaited<ReturnType<Visitor['context']['cookies']>> = [];
  beforeAll(async () => {
    stage.browser = await openBrowser();
    const now = service().clock.now().getTime();
    await service().record(demoVisits(now, DAYS));
    // Once for all tests, because attempts to sign in are limited.
    const { context } = await signedIn(stage.browser, service(), service().account);
    cookies = await context.cookies();
    await context.close();
  });
  afterAll(() => stage.browser?.close());
  afterEach(async () => {
    for (const { context } of open.splice(0)) await context.close();
  });
  const closeLater = (visitor: Visitor): Visitor => {
    open.push(visitor);
    return visitor;
  };
  const owner = async (viewing: Viewing = {}): Promise<Visitor> => {
    const visitor = closeLater(await openConsole(stage.browser, service(), viewing));
    await visitor.context.addCookies(cookies);
    return visitor;
  };
  return {
    get browser() {
      return stage.browser;
    },
    get service() {
      return service();
    },
    closeLater,
    owner,
    async analytics(search = '', viewing = {}) {
      const visitor = await owner(viewing);
      await visitor.visit(`/apps/${service().app}${search}`);
      await visitor.page.locator('.tile-value').first().waitFor();
      return visitor;
    },
    async answer<T>({ requests }: Pick<Visitor, 'requests'>, path: string): Promise<T> {
      const url = requests.findLast((each) => each.includes(`/dashboard/api/v1${path}`));
      if (url === undefined) throw new Error(`The page did not ask ${path}.`);
      const { json } = await service().ask(url.replace(/^.*\/dashboard/, ''));
      return json as T;
    },
    dayAgo: (days) => new Date(service().clock.now().getTime() - days * DAY_MS).toISOString().slice(0, 10),
  };
}
