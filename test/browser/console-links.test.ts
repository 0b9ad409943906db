import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FrameLocator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newContext } from './chromium.ts';
import { findings, openConsole, signedIn } from './console.ts';
import { withLinks } from './link-stage.ts';

const stage = withLinks();

/** Waits until the list of pages has a path. A panel asks when it is in view. */
async function shows(page: Page | FrameLocator, path: string): Promise<void> {
  const pages = page.getByRole('region', { name: 'Pages', exact: true });
  await pages.scrollIntoViewIfNeeded();
  await pages.getByText(path, { exact: true }).waitFor();
}

test('an owner makes a link; whoever opens it sees the app and nothing else; it ends at once when it is revoked', async () => {
  const { account, app } = await stage.site();
  const { context, page, complaints, visit: go } = await signedIn(stage.browser, stage.service, account);
  await go(`/apps/${app}/settings`);
  const section = page.getByRole('region', { name: 'Links without an account' });
  await section.getByText('There is no link.').waitFor();
  await section.getByRole('button', { name: 'Make a link' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Partners');
  await dialog.getByLabel('Only these visits').fill('colour==red');
  await dialog.getByRole('button', { name: 'Make a link' }).click();
  expect(await dialog.getByRole('alert').textContent()).toContain('unknown dimension');
  await dialog.getByLabel('Only these visits').fill('country==IR');
  await dialog.getByLabel('Sites that may show it').fill('https://partner.example');
  await dialog.getByRole('button', { name: 'Make a link' }).click();
  const address = (await page.getByRole('region', { name: 'The address' }).textContent()) ?? '';
  expect(await page.getByRole('region', { name: 'The frame' }).textContent()).toContain('/embed/');
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await section.getByRole('listitem').textContent()).toContain('country==IR');

  const guest = await openConsole(stage.browser, stage.service);
  await guest.page.goto(address);
  await shows(guest.page, '/of-iran');
  expect(await guest.page.locator('h1').textContent()).toBe('Shop');
  await guest.page.getByText('Only these visits are counted:').waitFor();
  const whole = (await guest.page.textContent('body')) ?? '';
  expect(whole).toContain('Iran');
  expect(whole).not.toContain('/of-germany');
  // Nothing leads into the console.
  expect(await guest.page.locator('a[href^="/dashboard"]').count()).toBe(0);
  expect(guest.page.url()).not.toContain('app_link_');
  await guest.page.reload();
  await shows(guest.page, '/of-iran');
  expect(await guest.context.cookies()).toEqual([]);
  const asked = guest.requests.map((url) => new URL(url).pathname);
  expect(asked.filter((path) => !/^\/(shared|dashboard\/assets)\//.test(path))).toEqual(
    asked.filter((path) => path === '/dashboard/api/sign-in'),
  );
  await section.getByRole('button', { name: 'Revoke Partners' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await guest.page.getByText('This link does not work any more').waitFor();
  await section.getByText('There is no link.').waitFor();
  await section.getByRole('button', { name: 'Show ended links' }).click();
  await section.getByText('Revoked').waitFor();
  expect([...complaints, ...guest.complaints]).toEqual([]);
  await guest.context.close();
  await context.close();
});

test('a view is shared from its page: the link begins with the same range, and counts the same visits', async () => {
  const { account, app } = await stage.site();
  const { context, page, complaints, visit: go } = await signedIn(stage.browser, stage.service, account);
  await go(`/apps/${app}?range=24h&zone=tehran&segment=country==IR`);
  await shows(page, '/of-iran');
  await page.getByRole('button', { name: 'Share this view' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('Only these visits').inputValue()).toBe('country==IR');
  expect(await findings(page)).toEqual([]);
  await dialog.getByLabel('Name').fill('Board');
  await dialog.getByLabel('Sites that may show it').fill('https://partner.example');
  await dialog.getByRole('button', { name: 'Make a link' }).click();
  const address = (await page.getByRole('region', { name: 'The address' }).textContent()) ?? '';
  const { search } = new URL(address);
  expect(search).toBe('?range=24h&zone=tehran');
  expect(await page.getByRole('region', { name: 'The frame' }).textContent()).toContain(
    search.replace('&', '&#38;'),
  );
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Share this view');
  expect(await stage.service.metadata.links.list(app)).toMatchObject([
    { name: 'Board', segment: 'country==IR' },
  ]);

  const guest = await openConsole(stage.browser, stage.service);
  await guest.page.goto(address);
  await shows(guest.page, '/of-iran');
  expect(await guest.page.getByLabel('Range').inputValue()).toBe('24h');
  expect(await guest.page.getByLabel('Time zone').inputValue()).toBe('Asia/Tehran');
  expect(await guest.page.textContent('body')).not.toContain('/of-germany');
  // Nobody shares on by a link.
  expect(await guest.page.getByRole('button', { name: 'Share this view' }).count()).toBe(0);
  expect([...complaints, ...guest.complaints]).toEqual([]);
  await guest.context.close();
  await context.close();
});

test('only those share a view who may make links: no viewer, and nobody with whom the app is shared', async () => {
  const { account, app } = await stage.site();
  const other = await stage.service.newTenant();
  await stage.service.metadata.setMember(account, 'viewer@example.com', 'viewer');
  await stage.service.metadata.shareApp(app, other.account);
  const email = 'viewer@example.com';
  const viewer = await signedIn(stage.browser, stage.service, account, { email, language: 'fa' });
  await viewer.visit(`/apps/${app}`);
  const button = viewer.page.getByRole('button', { name: 'اشتراک‌گذاری این نما' });
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await button.click({ force: true });
  expect(await viewer.page.getByRole('dialog').count()).toBe(0);
  const stranger = await signedIn(stage.browser, stage.service, other.account);
  await stranger.visit(`/apps/${app}`);
  await shows(stranger.page, '/of-iran');
  expect(await stranger.page.getByRole('button', { name: 'Share this view' }).count()).toBe(0);
  await stranger.context.close();
  await viewer.context.close();
});

test('an address without a token, or with a wrong one, says that it does not work', async () => {
  const { app } = await stage.site();
  const link = await stage.made(app);
  for (const token of ['', '#x', '#%00<script>', `#${link.token}0`]) {
    const { context, page, complaints } = await openConsole(stage.browser, stage.service);
    await page.goto(`${stage.service.url}/shared/${link.linkId}${token}`);
    await page.getByText('This link does not work any more').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  }
});

test('a frame shows the link on the named sites alone, also where the browser keeps nothing for it', async () => {
  const { app } = await stage.site();
  let address = '';
  const server = createServer((_req, res) => {
    res.setHeader('Content-Type', 'text/html');
    res.end(
      `<!doctype html><title>Partner</title><iframe src="${address}" width="900" height="800"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const named = await stage.made(app, { origins: [`http://partner.test:${port}`] });
  const unnamed = await stage.made(app);

  for (const keepsNothing of [false, true]) {
    const context = await newContext(stage.browser, { locale: 'en-GB' });
    if (keepsNothing) {
      // As browsers do that block the storage of frames.
      await context.addInitScript(`
        for (const name of ['localStorage', 'sessionStorage', 'cookie'])
          Object.defineProperty(name === 'cookie' ? Document.prototype : window, name, {
            get() { throw new DOMException('denied', 'SecurityError'); },
          });`);
    }
    const page = await context.newPage();
    address = stage.addressOf(named, 'embed');
    await page.goto(`http://partner.test:${port}/`);
    const frame = page.frameLocator('iframe');
    await shows(frame, '/of-iran');
    // A choice works, and is no step of the page around it.
    const steps = await page.evaluate('history.length');
    await frame.getByLabel('Range').selectOption('24h');
    await shows(frame, '/of-iran');
    expect(await page.evaluate('history.length')).toBe(steps);
    expect(await context.cookies()).toEqual([]);
    await context.close();
  }
  const refused: [string, string][] = [
    [stage.addressOf(unnamed, 'embed'), `http://partner.test:${port}/`],
    [stage.addressOf(named, 'embed'), `http://other.test:${port}/`],
    [stage.addressOf(named, 'shared'), `http://partner.test:${port}/`],
    [`${stage.service.url}/dashboard`, `http://partner.test:${port}/`],
  ];
  const context = await newContext(stage.browser);
  const page = await context.newPage();
  const said: string[] = [];
  page.on('console', (message) => void said.push(message.text()));
  for (const [at, around] of refused) {
    address = at;
    said.length = 0;
    await page.goto(around);
    await expect.poll(() => said.join(' ')).toContain('frame-ancestors');
    // The browser's own page stands in the frame.
    await expect.poll(() => page.frames().at(-1)?.url()).toBe('chrome-error://chromewebdata/');
    expect(await page.frameLocator('iframe').locator('#console').count()).toBe(0);
  }
  await context.close();
  server.closeAllConnections();
  server.close();
});

test('on the first day of an app, each line is a point', async () => {
  const { app } = await stage.site();
  const guest = await openConsole(stage.browser, stage.service);
  await guest.page.goto(`${stage.addressOf(await stage.made(app)).replace('#', '?range=7d&zone=utc#')}`);
  const growth = guest.page.getByRole('region', { name: 'Growth', exact: true });
  await growth.locator('.point-first').waitFor();
  expect(await growth.locator('.point-first').count()).toBe(1);
  await expect.poll(() => guest.page.locator('.tile .line-alone').count()).toBeGreaterThan(5);
  await guest.context.close();
});
