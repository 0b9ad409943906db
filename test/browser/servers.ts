import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on a free port, under a host name of its own in the browser. */
export interface Site {
  readonly origin: string;
  close(): Promise<void>;
}

export async function serve(host: string, listener: RequestListener): Promise<Site> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The content of a shop's pages, besides the script tag. */
export const SHOP = `
  <nav id="menu"><a href="#top">Top</a></nav>
  <button id="buy"><span>Buy <b>now</b></span></button>
  <button id="row-120934" data-plan="pro">Take it</button>
  <a data-x="7" href="#x">X</a>
  <label>News <input type="checkbox" id="news"></label>
  <form><input name="email" id="email"><textarea id="note"></textarea></form>
  <div id="card"><p>Text</p></div>`;

/**
 * A site; every path is a page with `head` and the shop's content. Its policy allows scripts and requests to
 * the service only, and no inline script: the SDK works under it.
 */
export const shop = (service: string, head: () => string): Promise<Site> =>
  serve('shop.test', (req, res) => {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; script-src 'self' ${service}; connect-src ${service}`,
    );
    res.end(`<!doctype html><title>${req.url ?? ''}</title>${head()}${SHOP}`);
  });
