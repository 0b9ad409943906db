import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { parametersOf } from '../../src/endpoints/endpoint.ts';
import {
  type Answer,
  type Ask,
  endpointOf,
  expectInvalid,
  expectProblem,
  type TestService,
  type TestServiceOptions,
  testService,
} from './support.ts';

/** A service for the tests of one file. */
export function withService(options?: TestServiceOptions): () => TestService {
  let service: TestService | undefined;
  beforeAll(async () => {
    service = await testService(options);
  });
  afterAll(() => service?.close());
  return () => {
    if (service === undefined) throw new Error('not started');
    return service;
  };
}

/** A request of the operation that is right in everything but what `more` says. */
export function askRightly(
  service: TestService,
  operationId: string,
  more: Ask & { query?: string } = {},
): Promise<Answer> {
  const { query = '', ...ask } = more;
  return service.ask(`${pathOf(service, operationId)}${query}`, { ...bodyOf(operationId), ...ask });
}

/** With `?appId=…` where the operation has one, and a bare `?` where not: parameters can be appended with `&`. */
const pathOf = (service: TestService, operationId: string): string => {
  const { path } = endpointOf(operationId);
  return `${path}?${isAboutApp(operationId) ? `appId=${service.app}` : ''}`;
};

const parameters = (operationId: string) => parametersOf(endpointOf(operationId).query).shape;
const isAboutApp = (operationId: string): boolean => 'appId' in parameters(operationId);
const bodyOf = (operationId: string): Ask =>
  endpointOf(operationId).method === 'post'
    ? { method: 'POST', body: { name: 'New', domain: `https://${randomUUID()}.example` } }
    : {};

export function answers304(operationId: string): void {
  describe(operationId, () => {
    const service = withService();

    test('304 without a body to whoever has the bytes, HEAD like GET', async () => {
      const first = await askRightly(service(), operationId);
      expect(first.status).toBe(200);
      const etag = first.headers['etag'] ?? '';
      expect(etag).toMatch(/^"[\w-]+"$/);
      expect(first.headers['cache-control']).toBe('private, max-age=0, must-revalidate');
      for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const again = await askRightly(service(), operationId, {
            method,
            headers: { 'If-None-Match': tags },
          });
          expect(again).toMatchObject({ status: 304, text: '', headers: { etag } });
          expect(again.headers['x-request-id']).toBeDefined();
        }
      }
      const last = await askRightly(service(), operationId, { headers: { 'If-None-Match': '"other"' } });
      expect(last).toMatchObject({ status: 200, text: first.text });
      // Each of the ten counted.
      expect(last.headers['x-ratelimit-remaining']).toBe('110');
    });

    test('HEAD has the headers of GET and no body', async () => {
      const get = await askRightly(service(), operationId);
      const head = await askRightly(service(), operationId, { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, text: '' });
      for (const name of ['etag', 'content-type', 'content-length', 'cache-control']) {
        expect(head.headers[name]).toBe(get.headers[name]);
      }
    });
  });
}

export function answers400(operationId: string): void {
  describe(operationId, () => {
    const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000' } });
    const fields = async (query: string): Promise<string[]> =>
      expectInvalid(await askRightly(service(), operationId, { query })).map(({ field }) => field);
    const listed = parameters(operationId);

    test('unknown and repeated parameters, all named', async () => {
      expect(await fields('&other=1&appid=2&other=3')).toEqual(['other', 'other', 'appid']);
      expect(await fields('&appId[]=1')).toEqual(['appId[]']);
    });

    if (isAboutApp(operationId))
      test('appId missing, not a UUID, twice', async () => {
        const { path } = endpointOf(operationId);
        for (const search of [
          '',
          '?',
          '?appId=',
          '?appId=1234',
          `?appId=${service().app}x`,
          `?appId={${service().app}}`,
        ]) {
          const errors = expectInvalid(await service().ask(path + search));
          expect(errors.map(({ field }) => field)).toEqual(['appId']);
        }
        expect(await fields(`&appId=${service().app}`)).toEqual(['appId']);
      });

    if ('from' in listed)
      test('from and to: form, order, twice', async () => {
        for (const wrong of [
          '',
          '2026-11-20',
          '2026-11-20T10:00:00',
          '1763622960',
          '2026-02-30T00:00:00Z',
          'now',
        ]) {
          expect(await fields(`&from=${wrong}`)).toEqual(['from']);
          expect(await fields(`&to=${wrong}`)).toEqual(['to']);
        }
        expect(await fields('&from=2026-01-02T00:00:00Z&from=2026-01-02T00:00:00Z')).toEqual(['from']);
        expect(await fields('&from=x&to=y')).toEqual(['from', 'to']);
        expect(await fields('&from=2026-01-02T00:00:00Z&to=2026-01-01T23:59:59.999Z')).toEqual(['from']);
        const [plus] = expectInvalid(
          await askRightly(service(), operationId, { query: '&from=2026-01-02T00:00:00+03:30' }),
        );
        expect(plus?.message).toContain('%2B');
        // Rounded inwards, this range holds no millisecond.
        expect(await fields('&from=2026-01-01T00:00:00.0001Z&to=2026-01-01T00:00:00.0009Z')).toEqual([
          'from',
        ]);
      });

    if ('limit' in listed)
      test('limit from 1 to 10,000 in plain digits', async () => {
        for (const wrong of ['', '0', '10001', '-1', '1.0', '1e3', '0x10', '%207', '+7', 'ten', '01']) {
          expect(await fields(`&limit=${wrong}`)).toEqual(['limit']);
        }
        expect((await askRightly(service(), operationId, { query: '&limit=10000' })).status).toBe(200);
      });

    if (!('limit' in listed))
      test('a limit that it does not list', async () => {
        expect(await fields('&limit=5')).toEqual(['limit']);
      });

    test('at most 20 errors', async () => {
      const query = Array.from({ length: 30 }, (_, i) => `&p${i}=1`).join('');
      expect(await fields(query)).toHaveLength(20);
    });

    if (!('from' in listed))
      test('from and to that it does not list are ignored, whatever they hold', async () => {
        const plain = await askRightly(service(), operationId);
        const odd = await askRightly(service(), operationId, { query: '&from=x&from=&to=%zz&to=2026-01-01' });
        expect(odd.status).toBe(plain.status);
        expect(odd.headers['etag']).toBe(plain.headers['etag']);
      });

    test('comes before 403', async () => {
      const stranger = await service().newAccount('suspended');
      expectInvalid(await askRightly(service(), operationId, { key: stranger.key, query: '&other=1' }));
    });
  });
}

export function answers401(operationId: string): void {
  describe(operationId, () => {
    let ahead = 0;
    const service = withService({ clock: () => epochMs(Date.now() + ahead) });

    test('one and the same body for missing, malformed, unknown, expired and revoked keys', async () => {
      const { metadata, key, account, newAccount } = service();
      const revoked = await newAccount();
      const [revokedKey] = await metadata.listKeys(revoked.account);
      await metadata.revokeKey(keyId(revokedKey?.keyId ?? ''));
      const short = await metadata.createKey(account, { expiresAt: epochMs(Date.now() + 600_000) });
      expect((await askRightly(service(), operationId, { key: short.apiKey })).status).not.toBe(401);
      ahead = 600_000;
      const asks: Ask[] = [
        { key: null },
        { key: `${key}x` },
        { key: 'service_api_x' },
        { key: revoked.key },
        { key: short.apiKey },
        { key: null, headers: { Authorization: key } },
        { key: null, headers: { Authorization: `Basic ${key}` } },
        { key: null, headers: { Authorization: 'Bearer' } },
        { key: null, headers: { Authorization: `Bearer ${key} ${key}` } },
        { key: null, headers: { Authorization: [`Bearer ${key}`, `Bearer ${key}`] } },
      ];
      const bodies = new Set<string>();
      for (const ask of asks) {
        const answer = await askRightly(service(), operationId, ask);
        bodies.add(JSON.stringify({ ...expectProblem(answer, 'unauthorized'), requestId: '' }));
        expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
      }
      expect(bodies.size).toBe(1);
    });

    test("an app's secret is told apart", async () => {
      for (const key of [service().secretKey, 'app_secret_']) {
        const { detail } = expectProblem(await askRightly(service(), operationId, { key }), 'unauthorized');
        expect(detail).toMatch(/SDK credential.*account API key/);
      }
    });

    test('the scheme is read in any case', async () => {
      const headers = { Authorization: `bearer ${service().key}` };
      expect((await askRightly(service(), operationId, { key: null, headers })).status).toBeLessThan(300);
    });
  });
}

export function answers403(operationId: string): void {
  describe(operationId, () => {
    const service = withService();

    test('an unknown and a foreign app alike', async () => {
      const stranger = await service().newAccount();
      const foreign = await askRightly(service(), operationId, { key: stranger.key });
      const unknown = await service().ask(`${endpointOf(operationId).path}?appId=${randomUUID()}`);
      const bodies = [foreign, unknown].map((answer) => expectProblem(answer, 'app_access_denied'));
      expect(bodies[0]).toEqual({ ...bodies[1], requestId: bodies[0]?.requestId });
    });

    test('a shared app until it is no longer shared, its id in either case', async () => {
      const { app, metadata, ask } = service();
      const friend = await service().newAccount();
      const path = `${endpointOf(operationId).path}?appId=${app.toUpperCase()}`;
      await metadata.shareApp(app, friend.account);
      expect((await ask(path, { key: friend.key })).status).toBe(200);
      await metadata.unshareApp(app, friend.account);
      expectProblem(await ask(path, { key: friend.key }), 'app_access_denied');
    });

    test('a suspended plan, before access is looked at', async () => {
      const suspended = await service().newAccount('suspended');
      expectProblem(await askRightly(service(), operationId, { key: suspended.key }), 'plan_blocked');
    });
  });
}

export function answers405(operationId: string): void {
  describe(operationId, () => {
    const service = withService();

    test('other methods, with those that are allowed', async () => {
      const { path } = endpointOf(operationId);
      const allow = path === '/api/v1/apps' ? 'GET, HEAD, POST' : 'GET, HEAD';
      for (const method of [
        'PUT',
        'PATCH',
        'DELETE',
        'OPTIONS',
        'TRACE',
        ...(allow.includes('POST') ? [] : ['POST']),
      ]) {
        const answer = await askRightly(service(), operationId, { method, query: '&other=1' });
        expectProblem(answer, 'method_not_allowed');
        expect(answer.headers['allow']).toBe(allow);
        expect(answer.headers['x-ratelimit-limit']).toBe('120');
      }
      expectProblem(
        await askRightly(service(), operationId, { method: 'DELETE', key: null }),
        'unauthorized',
      );
    });
  });
}

export function answers429(operationId: string): void {
  describe(operationId, () => {
    const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '20' } });

    test('exactly the limit passes, however parallel; then 429 with one number of seconds', async () => {
      const all = await Promise.all(Array.from({ length: 50 }, () => askRightly(service(), operationId)));
      const passed = all.filter(({ status }) => status < 300);
      expect(passed).toHaveLength(20);
      expect(new Set(passed.map(({ headers }) => headers['x-ratelimit-remaining'])).size).toBe(20);
      for (const answer of all.filter(({ status }) => status >= 300)) {
        const { retryAfterSeconds } = expectProblem(answer, 'rate_limited');
        expect(retryAfterSeconds).toBeLessThanOrEqual(60);
        expect(answer.headers).toMatchObject({
          'x-ratelimit-limit': '20',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(retryAfterSeconds),
          'retry-after': String(retryAfterSeconds),
        });
      }
      // Before everything but 401, and of this key alone.
      expectProblem(
        await askRightly(service(), operationId, { query: '&other=1', method: 'PUT' }),
        'rate_limited',
      );
      expectProblem(await askRightly(service(), operationId, { key: null }), 'unauthorized');
      const other = await service().newAccount();
      const fresh = await askRightly(service(), operationId, { key: other.key });
      expect(fresh.headers).toMatchObject({ 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '19' });
    });
  });
}
