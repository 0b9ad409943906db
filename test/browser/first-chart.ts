import type { Page } from 'playwright-core';
import { openBrowser } from './chromium.ts';

/*
 * Prints how long the console takes to its first chart, in a fresh browser each time. Start `npm run demo`, and give the
 * link that it prints: `npm run first-chart -- 'http://127.0.0.1:3000/dashboard/sign-in#…'`.
 */

const ROUNDS = 5;
const WIDTH = 1440;

const [link = ''] = process.argv.slice(2);
if (!link.includes('/dashboard/sign-in#')) {
  throw new Error("Give the sign-in link that the demo prints, in quotes: 'http://…/dashboard/sign-in#…'");
}
const { origin } = new URL(link);

/** Milliseconds from the navigation to the first line of a chart, by the page's own clock. */
const firstChart = (page: Page): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    const look = () =>
      document.querySelector('.plot svg path') === null ? requestAnimationFrame(look) : resolve(performance.now());
    look();
  })`);

const browser = await openBrowser();
try {
  const first = await browser.newContext({ viewport: { width: WIDTH, height: 900 } });
  const page = await first.newPage();
  await page.goto(link);
  await page.waitForURL(`${origin}/dashboard`);
  const app = await page.locator('main a[href^="/dashboard/apps/"]').first().getAttribute('href');
  const storageState = await first.storageState();
  const ms: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Without a cache: as a person sees it who comes for the first time.
    const context = await browser.newContext({ storageState, viewport: { width: WIDTH, height: 900 } });
    const fresh = await context.newPage();
    await fresh.goto(`${origin}${app}`, { waitUntil: 'commit' });
    ms.push(Math.round(await firstChart(fresh)));
    await context.close();
  }
  const median = [...ms].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  process.stdout.write(`${JSON.stringify({ page: app, firstChartMs: ms, median })}\n`);
} finally {
  await browser.close();
}
