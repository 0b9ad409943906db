import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { withService } from '../http/operations.ts';
import { openBrowser } from './chromium.ts';

const service = withService();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Runs in the page. Finds texts with a contrast below WCAG's 4.5 against their background. */
const POOR_CONTRAST = `(() => {
  const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return channels(color)[3] === 0 && element.parentElement !== null ? behind(element.parentElement) : color;
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''))
    .map((element) => {
      const pair = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => a - b);
      return { text: element.textContent.slice(0, 40), contrast: (pair[1] + 0.05) / (pair[0] + 0.05) };
    })
    .filter(({ contrast }) => contrast < 4.5);
})()`;

interface Opened {
  readonly page: Page;
  readonly requests: string[];
  readonly complaints: string[];
}

async function opened(
  colorScheme: 'light' | 'dark' = 'light',
  width = 1280,
  path = '/docs',
): Promise<Opened> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => void requests.push(request.url()));
  page.on('console', (message) => void complaints.push(message.text()));
  page.on('pageerror', (error) => void complaints.push(error.message));
  await page.goto(`${service().url}${path}`, { waitUntil: 'networkidle' });
  return { page, requests, complaints };
}

test('loads from the service alone, without warnings of the browser', async () => {
  const { page, requests, complaints } = await opened();
  expect(requests.map((url) => url.replace(service().url, '')).sort()).toEqual([
    '/docs',
    '/docs/copy.js',
    '/docs/style.css',
  ]);
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

test('has every operation, its parameters, its answers and their examples', async () => {
  const { page } = await opened();
  for (const { operationId, path } of ENDPOINTS) {
    const article = page.locator(`article[aria-labelledby="${operationId}"]`);
    expect(await article.locator('h3 code').textContent()).toBe(path);
    expect(await article.locator('.curl code').textContent()).toContain(`'${service().url}${path}`);
    expect(await article.locator('summary').count()).toBeGreaterThanOrEqual(8);
    expect(await page.locator(`nav a[href="#${operationId}"]`).count()).toBe(1);
  }
  const article = page.locator('article[aria-labelledby="listPageviews"]');
  await article.locator('summary').first().click();
  await article.locator('pre', { hasText: '"views": 2' }).waitFor({ state: 'visible' });
});

test('a command is copied, and screen readers announce it', async () => {
  const { page } = await opened();
  const curl = page.locator('article[aria-labelledby="createApp"] .curl');
  await curl.getByRole('button', { name: 'Copy' }).click();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toBe(await curl.locator('code').textContent());
  expect(copied).toContain(
    `-d '{"name":"Blog","domain":"https://blog.example"}' '${service().url}/api/v1/apps'`,
  );
  expect(await page.getByRole('status').textContent()).toBe('Copied');
});

describe.each(['light', 'dark'] as const)('%s', (scheme) => {
  test('every text has a contrast of 4.5 or more', async () => {
    const { page } = await opened(scheme);
    await page.evaluate(
      "document.querySelectorAll('details').forEach((details) => { details.open = true; })",
    );
    const poor = await page.evaluate(POOR_CONTRAST);
    expect(poor).toEqual([]);
  });

  test('the page of figures is readable, on a phone too', async () => {
    const { page, complaints } = await opened(scheme, 360, '/docs/figures');
    expect(await page.locator('td', { hasText: /^The share of sessions that bounced\.$/ }).count()).toBe(3);
    expect(await page.evaluate(POOR_CONTRAST)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    expect(complaints).toEqual([]);
  });
});

test('headings descend by one, controls have names, the keyboard reaches everything', async () => {
  const { page } = await opened();
  const levels = await page
    .locator('h1, h2, h3, h4, h5')
    .evaluateAll((headings) => headings.map(({ tagName }) => Number(tagName.slice(1))));
  expect(levels.filter((level, i) => i > 0 && level - (levels[i - 1] ?? 0) > 1)).toEqual([]);
  expect(levels.filter((level) => level === 1)).toHaveLength(1);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  const ids = await page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

test('fits a phone: only long tables and examples scroll sideways', async () => {
  const { page } = await opened('light', 360);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  const cut = await page
    .locator('.curl pre, .parameters')
    .evaluateAll((shown) => shown.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length);
  expect(cut).toBe(0);
});
