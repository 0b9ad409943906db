import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';
/**
 * A visitor's browser: the service leaves out what calls itself headless. For the whole browser, since a page's last
 * beacon does not know what playwright sets for the page.
 */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** Debian's Chromium with a profile folder of its own, which goes with it. `*.test` is this machine. */
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
    // Visitors have it.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
}

/** A visitor that nobody has seen before. */
export const newVisitor = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({ locale: 'fa-IR', screen: { width: 1280, height: 720 } });
