import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { AccountId } from '../../src/domain/ids.ts';
import type { TestService } from '../http/support.ts';
import { newContext } from './chromium.ts';

export interface Viewing {
  readonly language?: 'en' | 'fa';
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
}

/** A person with the console open in a browser of their own. */
export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained about: errors of scripts, and violations of the page's policy. */
  readonly complaints: string[];
  /** The addresses of all requests. */
  readonly requests: string[];
  /** Goes to a page of the console: `/api-keys`. */
  visit(path: string): Promise<void>;
}

/** Opens the console in a new browser profile, signed in to nothing. */
export async function openConsole(
  browser: Browser,
  { url }: Pick<TestService, 'url'>,
  { language = 'en', scheme = 'light', width = 1440 }: Viewing = {},
): Promise<Visitor> {
  const context = await newContext(browser, {
    locale: language === 'en' ? 'en-GB' : 'fa-IR',
    colorScheme: scheme,
    viewport: { width, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('request', (request) => void requests.push(request.url()));
  page.on('pageerror', ({ message }) => void complaints.push(message));
  page.on('console', (message) => {
    const text = message.text();
    // Chromium reports each answer with an error status, which pages expect.
    if (!text.startsWith('Failed to load resource')) complaints.push(text);
  });
  const visit = async (path: string): Promise<void> => {
    await page.goto(`${url}/dashboard${path}`);
    await page.locator('h1').waitFor();
  };
  return { context, page, complaints, requests, visit };
}

/** Opens the console and signs in by a link: as a viewer with their address, as an owner without one. */
export async function signedIn(
  browser: Browser,
  service: Pick<TestService, 'url' | 'metadata'>,
  account: AccountId,
  { email = '', ...viewing }: Viewing & { readonly email?: string } = {},
): Promise<Visitor> {
  const { token } = await service.metadata.createSignInLink(account, email);
  const visitor = await openConsole(browser, service, viewing);
  await visitor.page.goto(`${service.url}/dashboard/sign-in#${token}`);
  await visitor.page.waitForURL(`${service.url}/dashboard`);
  await visitor.page.locator('nav').waitFor({ state: 'attached' });
  return visitor;
}

/** What axe finds against WCAG 2.2 AA and its best practices, as lines. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${help}: ${target.join(' ')} ${any[0]?.message ?? ''}`),
  );
}
