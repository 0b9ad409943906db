import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { askRightly, withService } from './operations.ts';
import { SAMPLE } from './sample.ts';
import type { Answer, Ask } from './support.ts';

const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000' } });

const view = async (path: string): Promise<void> => {
  const at = new Date(Date.now() - 60_000).toISOString();
  await service().record([
    {
      id: randomUUID(),
      visitorId: 'v',
      startedAt: at,
      context: SAMPLE[1].context,
      events: [{ type: 'pageview', timestamp: at, path }],
    },
  ]);
};

const ask = (cacheControl: string | null, more: Ask & { query?: string } = {}): Promise<Answer> =>
  askRightly(service(), 'listPageviews', {
    ...more,
    headers: { ...(cacheControl === null ? {} : { 'Cache-Control': cacheControl }), ...more.headers },
  });

const pathsOf = ({ json }: Answer): string[] => (json as { path: string }[]).map(({ path }) => path).sort();

let before: Answer;
let old: string;
/** Stored after the request for `before`. */
let late: string;

beforeEach(async () => {
  [old, late] = [`/${randomUUID()}`, `/${randomUUID()}`];
  await view(old);
  before = await ask(null);
  await sleep(5);
  await view(late);
});

describe('Cache-Control: max-stale', () => {
  test('gives the cached answer with its tag and age, and 304 for the tag', async () => {
    const stale = await ask('max-stale=60');
    expect(stale).toMatchObject({ status: 200, text: before.text });
    expect(stale.headers['etag']).toBe(before.headers['etag']);
    expect(stale.headers['x-data-as-of']).toBe(before.headers['x-data-as-of']);
    expect(Number(stale.headers['age'])).toBeLessThan(60);
    const tag = { 'If-None-Match': before.headers['etag'] ?? '' };
    for (const method of ['GET', 'HEAD']) {
      const known = await ask('max-stale', { method, headers: tag });
      expect(known).toMatchObject({ status: 304, text: '', headers: { etag: before.headers['etag'] } });
      expect(known.headers['x-data-as-of']).toBe(before.headers['x-data-as-of']);
      expect(known.headers).toHaveProperty('age');
    }
  });

  test('changes nothing for others, and their newer answer replaces the cached one', async () => {
    const now = await ask(null, { headers: { 'If-None-Match': before.headers['etag'] ?? '' } });
    expect(now.status).toBe(200);
    expect(pathsOf(now)).toEqual(expect.arrayContaining([old, late]));
    expect(now.headers).not.toHaveProperty('age');
    expect(now.headers['x-data-as-of']).not.toBe(before.headers['x-data-as-of']);
    const stale = await ask('max-stale=60');
    expect(stale.text).toBe(now.text);
    expect(stale.headers['etag']).toBe(now.headers['etag']);
  });

  test('renews the answer in the background before it is too old', async () => {
    // A question that no other test asks: its answer is cached at a time in the future.
    const query = '&limit=7777';
    const first = await ask(null, { query });
    const now = performance.now();
    const began = Date.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 3_300_000 + (Date.now() - began));
    try {
      const later = `/${randomUUID()}`;
      await view(later);
      const stale = await ask('max-stale=3600', { query });
      expect(stale.text).toBe(first.text);
      expect(Number(stale.headers['age'])).toBeGreaterThanOrEqual(3_300);
      await expect.poll(async () => pathsOf(await ask('max-stale=3600', { query }))).toContain(later);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test('works in every form, each with its own tag', async () => {
    const csv = await ask('max-stale=60', { headers: { Accept: 'text/csv' } });
    expect(csv.text).toContain(old);
    expect(csv.text).not.toContain(late);
    expect(csv.headers['etag']).toBe(before.headers['etag']?.replace(/"$/, '-csv"'));
    expect(csv.headers).toHaveProperty('age');
  });

  test.each(['max-stale=0', 'max-stale=1'])('%s: no older answer', async (header) => {
    await sleep(1_050);
    const asked = performance.now();
    const now = await ask(header);
    expect(pathsOf(now)).toContain(late);
    expect(Number(now.headers['age'])).toBeLessThanOrEqual((performance.now() - asked) / 1_000);
  });

  test.each([
    'max-stale=',
    'max-stale=-1',
    'max-stale=1.5',
    'max-stale=a',
    'max-age=60',
    'no-cache, max-stale',
  ])('%s is ignored', async (header) => {
    const now = await ask(header);
    expect(pathsOf(now)).toContain(late);
    expect(now.headers).not.toHaveProperty('age');
  });

  test('never gives the answer to another question or of another account', async () => {
    expect(pathsOf(await ask('max-stale', { query: '&limit=9999' }))).toContain(late);
    const { account, key } = await service().newAccount();
    await service().metadata.shareApp(service().app, account);
    expect(pathsOf(await ask('max-stale', { key }))).toContain(late);
  });

  test('refuses a caller without access', async () => {
    const { metadata, app } = service();
    const { account, key } = await service().newAccount();
    expect((await ask('max-stale', { key })).status).toBe(403);
    expect((await ask('max-stale', { key: 'service_api_nobody' })).status).toBe(401);
    await metadata.shareApp(app, account);
    expect((await ask('max-stale', { key })).status).toBe(200);
    await metadata.setPlan(account, 'suspended');
    expect((await ask('max-stale', { key })).status).toBe(403);
  });

  test('counts in the rate limit', async () => {
    // A key whose window begins here, and does not end meanwhile.
    const tenant = await service().newTenant();
    const headers = { 'Cache-Control': 'max-stale' };
    const left = async () =>
      Number((await askRightly(tenant, 'listPageviews', { headers })).headers['x-ratelimit-remaining']);
    const first = await left();
    expect(await left()).toBe(first - 1);
  });
});
