import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Waits until what is read fulfils the expectation. */
export const eventually = <T>(read: () => T) => expect.poll(read);

export const textOf = async (page: Page, selector: string): Promise<string> =>
  ((await page.locator(selector).first().textContent()) ?? '').trim();

export const panel = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });

/** The texts of a panel's table. */
export const rowsOf = (page: Page, name: string): Promise<string[][]> =>
  panel(page, name)
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) =>
        Array.from(row.children as Iterable<{ textContent: string }>, (cell) => cell.textContent),
      ),
    );

/** Scrolls through the page, so that every panel has asked. A panel asks when it is in view for a moment. */
export async function seeAll(page: Page): Promise<void> {
  for (const each of await page.locator('.panel').all()) {
    await eventually(async () => {
      await each.scrollIntoViewIfNeeded();
      return each.locator('.loading').count();
    }).toBe(0);
  }
}

/** A way to the service that can be closed, or hold back everything. */
export interface Gate {
  readonly url: string;
  /** Ends all connections, and refuses new ones. */
  stop(): Promise<void>;
  /** Keeps the connections, and lets nothing through. */
  hang(): void;
  go(): Promise<void>;
}

export async function gateTo(service: string): Promise<Gate> {
  const { hostname, port } = new URL(service);
  const sockets = new Set<Socket>();
  let isHanging = false;
  const server = createServer((inner) => {
    const outer = connect(Number(port), hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (!isHanging) to.write(bytes);
      });
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('error', () => to.destroy());
    }
  });
  const listen = (at: number): Promise<void> =>
    new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port: own } = server.address() as AddressInfo;
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${own}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        end();
      }),
    hang: () => {
      isHanging = true;
    },
    go: async () => {
      // What was held back is lost, so its connections end.
      if (isHanging) end();
      isHanging = false;
      if (!server.listening) await listen(own);
    },
  };
}
