import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wallClock } from '../../src/cli/wall-clock.ts';
import { errorHandler } from '../../src/http/request/problem.ts';
import { sdkScriptRouter } from '../../src/http/routes/sdk-script.ts';
import { createLog } from '../../src/http/server/log.ts';

/** 4.5 KiB. */
const LIMIT_BYTES = 4_608;

let server: Server;
let url: string;

beforeAll(async () => {
  const app = express();
  app.use(sdkScriptRouter());
  app.use(errorHandler({ log: createLog({ level: 'silent' }), clock: wallClock }));
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sdk.js`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const get = (headers: Record<string, string> = {}, method = 'GET') => fetch(url, { method, headers });

test(`the script has at most ${LIMIT_BYTES} bytes gzipped`, async () => {
  const script = await (await get()).text();
  const bytes = gzipSync(script, { level: 9 }).length;
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThanOrEqual(LIMIT_BYTES);
});

test('the documentation has the integrity value of this script', async () => {
  const hash = createHash('sha384')
    .update(await (await get()).text())
    .digest('base64');
  expect(readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8')).toContain(`"sha384-${hash}"`);
});

test('200: a classic script for pages of every site', async () => {
  const response = await get({ 'Accept-Encoding': 'identity' });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'Accept-Encoding',
  });
  expect(response.headers.get('content-encoding')).toBeNull();
  const script = await response.text();
  expect(() => new Function(script)).not.toThrow();
  expect(script).toContain('sessionAnalytics');
});

test('HEAD: the same headers without the script', async () => {
  const [full, head] = await Promise.all([get(), get({}, 'HEAD')]);
  expect(head.status).toBe(200);
  expect(head.headers.get('etag')).toBe(full.headers.get('etag'));
  expect(head.headers.get('content-length')).toBe(full.headers.get('content-length'));
  expect(await head.text()).toBe('');
});

test('304: by a strong tag of its own for each encoding', async () => {
  const tags = await Promise.all(
    ['identity', 'gzip'].map(async (encoding) =>
      (await get({ 'Accept-Encoding': encoding })).headers.get('etag'),
    ),
  );
  expect(new Set(tags).size).toBe(2);
  for (const tag of tags) expect(tag).toMatch(/^"[\w-]+"$/);
  const [plain = '', zipped = ''] = tags.map(String);
  const asked = { 'Accept-Encoding': 'gzip', 'If-None-Match': zipped };
  const unchanged = await get(asked);
  expect(unchanged.status).toBe(304);
  expect(await unchanged.text()).toBe('');
  expect(unchanged.headers.get('etag')).toBe(zipped);
  expect((await get({ 'Accept-Encoding': 'identity', 'If-None-Match': plain })).status).toBe(304);
  expect((await get({ 'If-None-Match': '"other"' })).status).toBe(200);
});

test('405 and 404: no other method, no other path', async () => {
  const refused = await get({}, 'POST');
  expect(refused.status).toBe(405);
  expect(refused.headers.get('allow')).toBe('GET, HEAD');
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(url.replace('sdk.js', 'SDK.js'))).status).toBe(404);
});
