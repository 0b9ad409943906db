import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import { withService } from '../http/operations.ts';
import { batchFor, PATH } from '../http/sdk-events/support.ts';
import { send } from '../http/support.ts';
import { newVisitor, openBrowser } from './chromium.ts';
import { snippetOf } from './guide.ts';
import { type Front, frontOf, startProxy, wayFrom } from './proxies.ts';
import { APP_ID, drained, track } from './visit.ts';

/* The lines of docs/sdk.md in the real programs: visitors, the site's server, the service's own server, the service. */

const SECTION = 'First-party path';
const POLICY = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; connect-src 'self'">`;
const [OFFICE, HOME] = ['127.0.0.9', '127.0.0.10'];
// Two servers are in front of the service, the site's included.
const service = withService({ env: { TRUST_PROXY: '2' } });
let browser: Browser;
let front: Front;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  front = await frontOf(service().url);
});
afterEach(() => front.close());

async function newApp() {
  const { ask } = await service().newTenant();
  const body = { name: 'Shop', domain: 'http://shop.test' };
  const { id, secretKey } = (await ask('/api/v1/apps', { method: 'POST', body })).json as {
    readonly id: string;
    readonly secretKey: string;
  };
  /** What was counted. */
  const counted = async () => {
    const { page, interaction } = (await ask(`/api/v1/sessions/overview/extended?appId=${id}`)).json as {
      readonly page: { readonly topPages: readonly object[] };
      readonly interaction: { readonly topCustomEvents: readonly object[] };
    };
    return [...page.topPages, ...interaction.topCustomEvents];
  };
  return { app: appId(id), secretKey, counted };
}

test.each(['nginx', 'caddy'] as const)(
  'the lines for %s pass on the script, the events and the address of the visitor, and no cookies',
  async (name) => {
    const { app, secretKey, counted } = await newApp();
    await service().metadata.setExclusions(app, [`${OFFICE}/32`]);
    const tag = snippetOf(SECTION, 'html').replace(APP_ID, app).replace('app_secret_…', secretKey);
    const html = `<!doctype html><title>Shop</title>${POLICY}${tag}`;
    const lines = snippetOf(SECTION, name).replaceAll('https://stats.example.com', front.origin);
    const proxy = await startProxy(name, lines, html, front.certificate);
    onTestFinished(proxy.close);
    const [office, home] = [await wayFrom(OFFICE, proxy.port), await wayFrom(HOME, proxy.port)];
    onTestFinished(office.close);
    onTestFinished(home.close);
    const visitor = await newVisitor(browser);
    onTestFinished(() => visitor.close());
    // A cookie is sent to all ports of a host.
    await visitor.addCookies([{ name: 'session', value: 'secret', url: home.origin }]);
    const page = await visitor.newPage();

    await page.goto(`${home.origin}/a`);
    await drained(page);
    await track(page, 'left');
    await page.goto('about:blank');
    const all = [
      { path: '/a', views: 1, uniqueSessions: 1 },
      { name: 'left', count: 1 },
    ];
    await expect.poll(counted).toEqual(all);

    const answered = page.waitForResponse(
      (answer) => answer.url().startsWith(office.origin) && answer.url().endsWith(PATH),
    );
    await page.goto(`${office.origin}/b`);
    const left = { accepted: 0, rejected: [expect.objectContaining({ session: 0, code: 'excluded' })] };
    expect(await (await answered).json()).toEqual(left);
    const claimed = await send(office.origin.replace('shop.test', '127.0.0.1'), `/stats${PATH}`, {
      method: 'POST',
      headers: { 'X-Forwarded-For': HOME },
      body: batchFor({ app, secretKey }),
    });
    expect(claimed.json, 'nobody names an address of their own').toEqual(left);
    expect(await counted()).toEqual(all);

    expect(new Set(front.passed.map(({ path }) => path))).toEqual(new Set(['/sdk.js', PATH]));
    const names = ['localhost', new URL(front.origin).host];
    for (const passed of front.passed) expect(passed).toMatchObject({ names, cookie: undefined });
  },
);
