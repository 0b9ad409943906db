import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';
const PATIENCE_MS = 200_000;
/**
 * A visitor's user agent, because the service rejects headless browsers as bots. It is set for the whole
 * browser: a page's last beacon does not use the one that playwright sets for the page.
 */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** Starts Debian's Chromium with a temporary profile folder. `*.test` resolves to this machine. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: apt-get install chromium`);
  return await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--user-agent=${USER_AGENT}`,
      '--host-resolver-rules=MAP *.test 127.0.0.1',
    ],
    // Visitors have the back-forward cache.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
}

/** Opens a profile without cookies and storage. Its waits end only what hangs. */
export async function newContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** A new visitor of a site. */
export const newVisitor = (browser: Browser): Promise<BrowserContext> =>
  newContext(browser, { locale: 'fa-IR', screen: { width: 1280, height: 720 } });

/** Opens a page in a Chromium that nobody drives: one that is driven prerenders no pages. Returns how to end it. */
export async function openAlone(url: string): Promise<() => Promise<void>> {
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'));
  const arguments_ = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-component-update',
    '--disable-sync',
    `--user-data-dir=${profile}`,
    '--host-resolver-rules=MAP *.test 127.0.0.1',
    url,
  ];
  const browser = spawn(CHROMIUM, arguments_, { stdio: 'ignore' });
  return async () => {
    const exit = once(browser, 'exit');
    browser.kill('SIGKILL');
    await exit;
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  };
}
