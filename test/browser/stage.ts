import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { newVisitor, openBrowser } from './chromium.ts';
import { type Collector, startCollector } from './collector.ts';
import { type Site, serve } from './servers.ts';
import { brief, tag } from './visit.ts';

/** A site with the SDK, a visitor on it, and a stand-in for the service; new for each test of a file. */
export interface Stage {
  readonly browser: Browser;
  readonly collector: Collector;
  readonly site: Site;
  readonly visitor: BrowserContext;
  readonly page: Page;
  /** The content of the page at a path. With the script tag at first. */
  html: (path: string) => string;
  /** Paths that are no pages: scripts and other sites' servers. */
  readonly files: Map<string, { readonly type: string; readonly text: string }>;
  /** What the SDK has said on the console of `page`. */
  readonly warnings: string[];
  /** The counted events of a type in short form. */
  of(type: string): string[];
}

/** Sets the stage for each test of the calling file. */
export function setStage(): Stage {
  const stage = {} as { -readonly [Key in keyof Stage]: Stage[Key] };
  beforeAll(async () => {
    stage.browser = await openBrowser();
  });
  afterAll(() => stage.browser?.close());
  beforeEach(async () => {
    const collector = await startCollector();
    const files: Stage['files'] = new Map();
    stage.collector = collector;
    stage.files = files;
    stage.html = () => tag(collector.origin);
    stage.warnings = [];
    stage.of = (type) => brief(collector.events()).filter((event) => event.startsWith(type));
    stage.site = await serve('shop.test', (req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://shop.test');
      const { type = 'text/html; charset=utf-8', text } = files.get(pathname) ?? {};
      res.setHeader('Content-Type', type);
      res.end(text ?? `<!doctype html><title>Shop</title>${stage.html(pathname)}`);
    });
    stage.visitor = await newVisitor(stage.browser);
    stage.page = await stage.visitor.newPage();
    stage.page.on('console', (message) => {
      if (message.type() === 'warning') stage.warnings.push(message.text());
    });
  });
  afterEach(async () => {
    await stage.visitor.close();
    await stage.site.close();
    await stage.collector.close();
    expect(stage.collector.malformed).toEqual([]);
  });
  return stage;
}
