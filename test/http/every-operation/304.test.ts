import { describe, expect, test } from 'vitest';
import { askRightly, READING, withService } from '../operations.ts';
import { AT_NOON } from '../sample.ts';

const service = withService(AT_NOON);

describe.each(READING)('%s', (operationId) => {
  test('304 without a body to a caller that has the bytes, HEAD like GET', async () => {
    const tenant = await service().newTenant();
    const first = await askRightly(tenant, operationId);
    expect(first.status).toBe(200);
    const etag = first.headers['etag'] ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers['cache-control']).toBe('private, max-age=0, must-revalidate');
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const again = await askRightly(tenant, operationId, { method, headers: { 'If-None-Match': tags } });
        expect(again).toMatchObject({ status: 304, text: '', headers: { etag } });
        expect(again.headers['x-request-id']).toBeDefined();
      }
    }
    const last = await askRightly(tenant, operationId, { headers: { 'If-None-Match': '"other"' } });
    expect(last).toMatchObject({ status: 200, text: first.text });
    // All ten requests counted.
    expect(last.headers['x-ratelimit-remaining']).toBe('110');
  });

  test('HEAD has the headers of GET and no body', async () => {
    const tenant = await service().newTenant();
    const get = await askRightly(tenant, operationId);
    const head = await askRightly(tenant, operationId, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '' });
    for (const name of ['etag', 'content-type', 'content-length', 'cache-control']) {
      expect(head.headers[name]).toBe(get.headers[name]);
    }
  });
});
