import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { send } from '../../support/http.ts';
import { withService } from '../operations.ts';
import { expectProblem } from './support.ts';

const service = withService();
const get = (path: string, ask: Parameters<typeof send>[2] = {}) => send(service().url, path, ask);
const SCRIPT = readdirSync(new URL('../../../dist/console/assets/', import.meta.url)).find((name) =>
  /^index-.*\.js$/.test(name),
);

test('every address of the console is its page, which is checked again each time', async () => {
  const bodies = new Set<string>();
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/api-keys', '/dashboard/apps/x/settings']) {
    const { status, headers, text } = await get(path);
    expect(status, path).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['x-content-type-options']).toBe('nosniff');
    const policy = String(headers['content-security-policy']);
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|nonce|https?:|\*/);
    const again = await get(path, { headers: { 'If-None-Match': String(headers['etag']) } });
    expect(again.status).toBe(304);
    expect(again.headers['cache-control']).toBe('no-cache');
    bodies.add(text);
  }
  expect(bodies.size).toBe(1);
});

test('files have a hash in their name, and are kept for good', async () => {
  const { status, headers } = await get(`/dashboard/assets/${SCRIPT}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

test('other files and methods are refused', async () => {
  for (const path of ['/dashboard/assets/none.js', '/dashboard/assets/../index.html', '/dashboards'])
    expectProblem(await get(path), 'not_found');
  expectProblem(await get('/dashboard', { method: 'POST', body: {} }), 'method_not_allowed');
});
