import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { withService } from '../http/operations.ts';
import { eventually } from './analytics.ts';
import { newContext, openBrowser } from './chromium.ts';
import { findings, signedIn } from './console.ts';

const GUIDES = ['errors', 'polling', 'examples', 'ingestion', 'sdk', 'figures'];
const KEY = /service_api_\w{46}/;

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

interface Opened {
  readonly page: Page;
  readonly requests: string[];
  readonly complaints: string[];
}

async function opened(path = '/docs', width = 1440): Promise<Opened> {
  const context = await newContext(browser, {
    viewport: { width, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => void requests.push(request.url()));
  page.on('console', (message) => {
    const text = message.text();
    // Chromium reports each answer with an error status, which people may provoke here.
    if (!text.startsWith('Failed to load resource')) complaints.push(text);
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  await page.goto(`${service().url}${path}`);
  await page.locator('.scripted').waitFor();
  return { page, requests, complaints };
}

const articleOf = (page: Page, operationId: string): Locator =>
  page.locator(`article[aria-labelledby="${operationId}"]`);

test('loads from the service alone, without warnings of the browser', async () => {
  const { page, requests, complaints } = await opened();
  expect(requests.filter((url) => !url.startsWith(`${service().url}/docs`))).toEqual([]);
  expect(complaints).toEqual([]);
  expect(await page.title()).toContain('Public API');
  const { headers } = await service().ask('/docs', { key: null });
  expect(headers['content-security-policy']).not.toContain('unsafe');
});

test('the policy holds: injected markup does not run', async () => {
  const { page } = await opened();
  const ran = await page.evaluate(`(() => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
    return 'injected' in window;
  })()`);
  expect(ran).toBe(false);
});

test('has every operation with its example open beside the call, and its own errors', async () => {
  const { page } = await opened();
  for (const { operationId, path } of ENDPOINTS) {
    const article = articleOf(page, operationId);
    expect(await article.locator('h3 code').textContent()).toBe(path);
    expect(await article.locator('.snippet:visible code').textContent()).toContain(
      `'${service().url}${path}`,
    );
    expect(await article.locator('.example').first().isVisible()).toBe(true);
    expect(await page.locator(`nav a[href="/docs#${operationId}"]`).count()).toBe(1);
  }
  const pageviews = articleOf(page, 'listPageviews');
  expect(await pageviews.locator('.about a[href^="/docs/errors#"]').allTextContents()).toEqual([
    'beyond_retention',
    'app_access_denied',
    'plan_blocked',
  ]);
  await pageviews.getByRole('link', { name: 'the errors of every call' }).click();
  const shared = page.locator('details.shared').first();
  await shared.locator('summary').click();
  expect(await shared.locator('a').allTextContents()).toContain('rate_limited');
});

test('the language of one call is that of all, and its text is copied', async () => {
  const { page } = await opened();
  await articleOf(page, 'listApps').getByRole('tab', { name: 'Python' }).click();
  const article = articleOf(page, 'listPageviews');
  await article.getByRole('tab', { name: 'Python' }).press('ArrowLeft');
  await article.getByRole('button', { name: /^Copy/ }).click();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toBe(await article.locator('.snippet:visible code').textContent());
  expect(copied).toContain('client.listPageviews({');
  expect(await page.getByRole('status').textContent()).toBe('Copied');
});

describe('trying a call', () => {
  const enter = async (page: Page, key: string): Promise<void> => {
    await page.locator('#key').fill(key);
    await page.getByRole('button', { name: 'Use it' }).click();
  };
  const result = (article: Locator): Locator => article.locator('.result');

  test('a key is entered once, and kept in memory alone', async () => {
    const { page, complaints } = await opened();
    const article = articleOf(page, 'listPageviews');
    await article.getByText('Try it').click();
    await article.getByRole('button', { name: 'Send' }).click();
    await enter(page, 'service_api_wrong');
    await page
      .getByRole('alert')
      .getByText(/^401: A valid account API key is needed/)
      .waitFor();
    await enter(page, service().key);
    await result(article).getByText('200 OK').waitFor();
    // The form has the app of the account now, and so have the commands.
    expect(await article.getByLabel('appId').inputValue()).toBe(service().app);
    expect(await article.locator('.snippet code').first().textContent()).toContain(service().app);
    expect(await result(article).locator('.caption').textContent()).toMatch(/\d+ ms, 2 bytes$/);
    await result(article).getByText('Headers').click();
    expect(await result(article).locator('dl').textContent()).toContain('x-ratelimit-remaining');
    expect(await result(article).locator('pre').textContent()).toBe('[]');

    const bounds = articleOf(page, 'getDataBounds');
    await bounds.getByText('Try it').click();
    await bounds.getByRole('button', { name: 'Send' }).click();
    await result(bounds).getByText('200 OK').waitFor();
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.body.outerHTML])',
    );
    expect(kept).not.toMatch(KEY);
    expect(complaints).toEqual([]);
  });

  test('an answer is asked for in a form, and again by its tag', async () => {
    const { page } = await opened();
    const article = articleOf(page, 'getDataBounds');
    await article.getByText('Try it').click();
    await article.getByRole('button', { name: 'Send' }).click();
    await enter(page, service().key);
    await result(article).getByText('200 OK').waitFor();
    await result(article).getByText('Headers').click();
    const etag = (await result(article).locator('dt:text-is("etag") + dd').textContent()) ?? '';
    await article.getByLabel(/^If-None-Match/).fill(etag);
    await article.getByRole('button', { name: 'Send' }).click();
    await result(article).getByText('304').waitFor();
    expect(await article.getByLabel(/^Accept/).inputValue()).toBe('application/json');
  });

  test('somebody who is signed in calls by the session, and finds the way back to the console', async () => {
    const visitor = await signedIn(browser, service(), service().account);
    const { page } = visitor;
    await page.goto(`${service().url}/docs`);
    await page.locator('.scripted').waitFor();
    const article = articleOf(page, 'getDataBounds');
    await article.getByText('Try it').click();
    await article.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Use my session in the console' }).click();
    await result(article).getByText('200 OK').waitFor();
    expect(await article.getByLabel('appId').inputValue()).toBe(service().app);
    await page.getByRole('banner').getByRole('link', { name: 'Console' }).click();
    await page.getByRole('heading', { name: 'Apps' }).waitFor();
    await visitor.context.close();
  });

  test('what is refused says why: a wrong value, a key that ended, a window that is used up', async () => {
    const { page } = await opened();
    const { account, key, ask } = await service().newTenant();
    await page.getByRole('button', { name: 'Enter an API key' }).click();
    await enter(page, key);
    const article = articleOf(page, 'listPageviews');
    const send = article.getByRole('button', { name: 'Send' });
    await article.getByText('Try it').click();
    await article.getByLabel('limit').fill('none');
    await send.click();
    await result(article).getByText('limit Must be').waitFor();

    await Promise.all(Array.from({ length: 120 }, () => ask('/api/v1/none')));
    await send.click();
    await result(article).getByText('429 Too Many Requests').waitFor();
    expect(await result(article).textContent()).toMatch(/Send it again after \d+ s\./);
    const explained = result(article).getByRole('link', { name: 'What rate_limited means' });
    expect(await explained.getAttribute('href')).toBe('/docs/errors#rate_limited');

    const [made] = await service().metadata.listKeys(account);
    if (made === undefined) throw new Error('no key');
    await service().metadata.revokeKey(made.keyId);
    await send.click();
    await result(article).getByText('401 Unauthorized').waitFor();
    expect(await result(article).textContent()).toContain('A valid account API key is needed');
  });

  test('a call that changes something really does, and says so beforehand', async () => {
    const { page } = await opened();
    const { account, key } = await service().newAccount();
    await page.getByRole('button', { name: 'Enter an API key' }).click();
    await enter(page, key);
    const article = articleOf(page, 'createApp');
    await article.getByText('Try it').click();
    await article
      .getByRole('textbox', { name: 'Body' })
      .fill('{"name":"Tried","domain":"https://tried.example"}');
    await article.getByRole('button', { name: 'Send (this really happens)' }).click();
    await result(article).getByText('201 Created').waitFor();
    expect(await service().metadata.listApps(account)).toMatchObject([{ name: 'Tried' }]);
  });
});

test('the search leads to operations, guides, errors and figures, by keyboard alone', async () => {
  const { page } = await opened();
  const found = page.locator('#found a');
  for (const [words, href] of [
    ['utm campaigns', '/docs#listUtmCampaigns'],
    ['retry-after', '/docs/polling'],
    ['domain_conflict', '/docs/errors#domain_conflict'],
    ['bouncerate', '/docs/figures#getExtendedOverview'],
  ] as const) {
    await page.keyboard.press('/');
    await page.keyboard.type(words);
    await page.locator(`#found a[href^="${href}"]`).first().waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.locator('#found').waitFor({ state: 'hidden' });
    await page.locator('#search').blur();
  }
  await page.keyboard.press('/');
  await page.keyboard.type('nothing-has-this');
  await page.getByText('Nothing has all these words.').waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('time spent');
  await found.first().waitFor();
  const href = await found.first().getAttribute('href');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service().url}${href}`);
});

test('the search finds how to begin, and shows words, not marks', async () => {
  const { page } = await opened();
  await page.keyboard.press('/');
  for (const [words, href] of [
    ['authentication', '/docs/examples#authentication'],
    ['first call', '/docs/examples#first-call'],
  ] as const) {
    await page.locator('#search').fill(words);
    await eventually(() => page.locator('#found a').first().getAttribute('href')).toBe(href);
  }
  const { json } = await service().ask('/docs/search.json', { key: null });
  const marked = (json as { readonly kind: string; readonly text: string; readonly href: string }[]).filter(
    ({ kind, text }) => kind !== 'Operation' && /\*\*|\]\(|\|\s*-{3}|```/.test(text),
  );
  expect(marked.map(({ href }) => href)).toEqual([]);
});

test('each example of a guide is copied by its button', async () => {
  const { page } = await opened('/docs/examples');
  const samples = page.locator('.sample');
  expect(await samples.count()).toBeGreaterThan(5);
  await samples.nth(1).getByRole('button', { name: /^Copy/ }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    'curl -s -H "Authorization: Bearer $KEY" "$URL/api/v1/apps"',
  );
});

test('headings descend by one, ids are unique, Tab begins with the way to the content', async () => {
  const { page } = await opened();
  const levels = await page
    .locator('main :is(h1, h2, h3, h4, h5)')
    .evaluateAll((headings) => headings.map(({ tagName }) => Number(tagName.slice(1))));
  expect(levels.filter((level, i) => i > 0 && level - (levels[i - 1] ?? 0) > 1)).toEqual([]);
  expect(levels.filter((level) => level === 1)).toHaveLength(1);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  const ids = await page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

test('on a phone the menu opens, leads on, and closes', async () => {
  const { page } = await opened('/docs', 390);
  const menu = page.getByRole('navigation');
  const button = page.getByRole('button', { name: 'Menu' });
  expect(await menu.isVisible()).toBe(false);
  await button.press('Enter');
  expect(await button.getAttribute('aria-expanded')).toBe('true');
  await page.keyboard.press('Escape');
  expect(await menu.isVisible()).toBe(false);
  await button.click();
  await menu.getByRole('link', { name: 'GET /growth/utm' }).click();
  expect(await menu.isVisible()).toBe(false);
  expect(page.url()).toBe(`${service().url}/docs#listUtmCampaigns`);
});

/** What is wrong with the look of a page, at each of some widths. */
async function wrong(page: Page, scheme: 'light' | 'dark', widths: readonly number[]): Promise<string[]> {
  const found: string[] = [];
  await page.emulateMedia({ colorScheme: scheme });
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const lines = await findings(page);
    if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) lines.push('too wide');
    found.push(...lines.map((line) => `${scheme} ${width}: ${line}`));
  }
  return found;
}

test('the reference has no findings of axe at any width, in light and dark', async () => {
  const { page } = await opened();
  // The articles are all made alike. Two of them show everything, and twelve take axe half a minute.
  await page.evaluate(`(() => {
    for (const article of document.querySelectorAll('article')) {
      if (!['createApp', 'listPageviews'].includes(article.getAttribute('aria-labelledby'))) article.remove();
    }
    for (const details of document.querySelectorAll('details')) details.open = true;
  })()`);
  expect(await wrong(page, 'light', [1440, 768, 390])).toEqual([]);
  // Colours do not depend on the width.
  expect(await wrong(page, 'dark', [390])).toEqual([]);
});

test.each(GUIDES)('the guide %s is rendered, without findings of axe', async (name) => {
  const { page, complaints } = await opened(`/docs/${name}`);
  expect(await page.locator('nav [aria-current]').getAttribute('href')).toBe(`/docs/${name}`);
  expect(await page.locator('main h2').count()).toBeGreaterThan(0);
  expect(await wrong(page, 'dark', [390])).toEqual([]);
  expect(complaints).toEqual([]);
});

test('without its script the page shows each call in all languages, and its menu', async () => {
  const context = await newContext(browser, {
    javaScriptEnabled: false,
    viewport: { width: 390, height: 900 },
  });
  const page = await context.newPage();
  await page.goto(`${service().url}/docs`);
  expect(await articleOf(page, 'listApps').locator('.snippet:visible').count()).toBe(3);
  expect(await page.locator('nav').isVisible()).toBe(true);
  expect(await page.locator('#search').isVisible()).toBe(false);
  expect(await page.locator('.try').first().isVisible()).toBe(false);
});

test('on a phone the search has a line of its own', async () => {
  const { page } = await opened('/docs', 390);
  const field = await page.locator('#search').boundingBox();
  const bar = await page.locator('.bar').boundingBox();
  expect(field?.width).toBeGreaterThan(340);
  expect((field?.y ?? 0) + (field?.height ?? 0)).toBeLessThanOrEqual((bar?.y ?? 0) + (bar?.height ?? 0));
  await page.context().close();
});
