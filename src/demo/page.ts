import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccountId, AppId } from '../domain/ids.ts';
import type { Metadata } from '../metadata/metadata.ts';

/** Where the page is. */
export const DEMO_PAGE = '/demo';
const PATHS = /^\/demo(\/\w+)?(\?|$)/;

/** Answers the page's requests, and leaves others to `next`. */
export type DemoPage = (
  req: IncomingMessage,
  res: ServerResponse,
  next: () => void | Promise<void>,
) => void | Promise<void>;

interface App {
  readonly id: AppId;
  readonly secretKey: string;
}

export interface DemoPageOptions {
  readonly metadata: Pick<Metadata, 'addApp' | 'appsOfAccount' | 'rotateSecret'>;
  readonly account: AccountId;
  /** The origin of the service. */
  readonly service: string;
  /** The origin under which the page is seen. */
  readonly site: string;
}

/** Finds or adds the app that the page's visitors are counted in. */
async function appOf({ metadata, account, site }: DemoPageOptions): Promise<App> {
  const known = (await metadata.appsOfAccount(account)).find(({ domain }) => domain === site);
  if (known === undefined) return metadata.addApp(account, { name: 'Try it', domain: site });
  return { id: known.id, ...(await metadata.rotateSecret(known.id, { overlapMs: 0 })) };
}

/**
 * Serves the page on which one can try the SDK, at /demo and below. What people do there is counted in an app of its own,
 * which is made at the first visit: the made-up data stay as they are.
 */
export function demoPage(options: DemoPageOptions): DemoPage {
  let app: Promise<App> | undefined;
  return async (req, res, next) => {
    if (req.method !== 'GET' || !PATHS.test(req.url ?? '')) return next();
    app ??= appOf(options).catch((error: unknown) => {
      app = undefined;
      throw error;
    });
    const html = pageOf(await app, options.service);
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end(html);
  };
}

const pageOf = ({ id, secretKey }: App, service: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Try the SDK</title>
<style>body { font: 1rem/1.6 system-ui; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }</style>
<script
  defer
  src="${service}/sdk.js"
  data-app-id="${id}"
  data-secret-key="${secretKey}"
  data-outbound-links
  data-file-downloads
  data-form-submissions
  data-debug
></script>
<h1>Try the SDK</h1>
<p>What you do here is counted in the app “Try it”: see the console, and the browser's own console for what is sent.</p>
<nav><a href="${DEMO_PAGE}/shoes">Shoes</a> · <a href="${DEMO_PAGE}/hats">Hats</a> (pages of a single-page app)</nav>
<p><button id="buy">Buy: an event with properties</button>
<button id="fail">An error</button></p>
<p><a id="out" href="https://example.com/?q=1" target="_blank" rel="noopener">A link to another site</a> ·
<a id="file" href="data.csv" download>A file</a></p>
<form id="search"><input aria-label="Search" name="q"> <button>Search: a form</button></form>
<p>Your own visits: <a href="?analytics=off">off</a> · <a href="?analytics=on">on</a> in this browser</p>
<script>
  for (const link of document.querySelectorAll('nav a'))
    link.onclick = () => (history.pushState({}, '', link.href), false);
  document.querySelector('#buy').onclick = () => sessionAnalytics.track('purchase', { plan: 'pro', seats: 3 });
  document.querySelector('#fail').onclick = () => { throw { code: 'demo', about: 'thrown on purpose' }; };
  document.querySelector('#search').onsubmit = () => false;
</script>
</html>
`;
