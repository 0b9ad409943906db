import { describe, expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import { withService } from './operations.ts';
import { type Ask, expectInvalid, expectProblem, send, sendRaw } from './support.ts';

const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000' } });

describe('201 of a new app', () => {
  const create = (body: unknown) => service().ask('/api/v1/apps', { method: 'POST', body });

  test('the app and its secret, this once', async () => {
    const answer = await create({ name: '  Blog ✍️ ', domain: 'HTTPS://Blog.Example:443/' });
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['etag']).toBeUndefined();
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Blog ✍️',
      domain: 'https://blog.example',
      access: 'owner',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      secretKey: expect.stringMatching(/^app_secret_[A-Za-z0-9]{40}$/),
    });
    const list = await service().ask('/api/v1/apps');
    const { secretKey, ...summary } = answer.json as Record<string, unknown>;
    expect(list.json).toContainEqual(summary);
    expect(list.text).not.toContain(String(secretKey));
  });

  test('other ports and IDN hosts', async () => {
    const port = await create({ name: 'Staging', domain: 'http://shop.example:8080' });
    expect(port.json).toMatchObject({ domain: 'http://shop.example:8080' });
    const idn = await create({ name: 'مثال', domain: 'https://مثال.example' });
    expect(idn.json).toMatchObject({ name: 'مثال', domain: 'https://xn--mgbh0fb.example' });
  });

  test('ignores from and to, which are not its parameters', async () => {
    const body = { name: 'Docs', domain: 'https://docs.example' };
    const answer = await service().ask('/api/v1/apps?from=x&from=y&to=', { method: 'POST', body });
    expect(answer.status).toBe(201);
  });
});

describe('400', () => {
  const fields = async (body: unknown, more: Ask = {}, query = ''): Promise<string[]> => {
    const answer = await service().ask(`/api/v1/apps${query}`, { method: 'POST', body, ...more });
    return expectInvalid(answer).map(({ field }) => field);
  };
  const RIGHT = { name: 'Blog', domain: 'https://blog.example' };

  test('missing and unknown fields and wrong types, all named at once', async () => {
    expect(await fields({})).toEqual(['name', 'domain']);
    expect(await fields({ ...RIGHT, name: 7, domain: null, id: 'x' })).toEqual(['name', 'domain', 'id']);
    expect(await fields('{"name":"a","domain":"https://a.example","__proto__":{"x":1}}')).toEqual([
      '__proto__',
    ]);
    for (const body of ['[]', '7', '"text"', 'null', 'true']) expect(await fields(body)).toEqual(['body']);
  });

  test('names', async () => {
    for (const name of ['', '   ', 'x'.repeat(101), 'a\u0000b', 'a\nb', '\ud800']) {
      expect(await fields({ ...RIGHT, name })).toEqual(['name']);
    }
  });

  test('domains that are no origin', async () => {
    const wrong = [
      '',
      'blog.example',
      '//blog.example',
      'ftp://blog.example',
      'https://',
      'https:blog.example',
      'https://blog.example/path',
      'https://blog.example//',
      'https://blog.example?x',
      'https://blog.example#x',
      'https://user@blog.example',
      'https://blog.example:99999',
      ' https://blog.example',
      'https://blog .example',
    ];
    for (const domain of wrong) expect(await fields({ ...RIGHT, domain })).toEqual(['domain']);
  });

  test('malformed JSON and invalid UTF-8', async () => {
    for (const body of ['', '{', '{"name":"a",}', '{"name":\'a\'}', 'name=a']) {
      expect(await fields(body)).toEqual(['body']);
    }
  });

  test('parameters, before plan and conflict', async () => {
    const suspended = await service().newAccount('suspended');
    expect(await fields(RIGHT, { key: suspended.key }, '?dryRun=1')).toEqual(['dryRun']);
  });
});

describe('403', () => {
  test('more apps than the plan allows, also in parallel', async () => {
    const { key } = await service().newAccount('free');
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        service().ask('/api/v1/apps', {
          method: 'POST',
          key,
          body: { name: 'App', domain: `https://a${i}.example` },
        }),
      ),
    );
    expect(all.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const answer of all.filter(({ status }) => status !== 201)) expectProblem(answer, 'plan_blocked');
  });

  test('a suspended account creates no apps, and still lists its own', async () => {
    const { key } = await service().newAccount('suspended');
    const body = { name: 'App', domain: 'https://a.example' };
    expectProblem(await service().ask('/api/v1/apps', { method: 'POST', key, body }), 'plan_blocked');
    expect((await service().ask('/api/v1/apps', { key })).json).toEqual([]);
  });
});

describe('409', () => {
  const create = (domain: string, key = service().key) =>
    service().ask('/api/v1/apps', { method: 'POST', key, body: { name: 'App', domain } });

  test('the same host and port twice in an account, whatever the scheme', async () => {
    for (const domain of ['https://shop.example', 'http://SHOP.example/', 'https://shop.example:443']) {
      expectProblem(await create(domain), 'domain_conflict');
    }
    expect((await create('https://shop.example:8443')).status).toBe(201);
    const other = await service().newAccount();
    expect((await create('https://shop.example', other.key)).status).toBe(201);
  });

  test('only one of many at once', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => create('https://race.example')));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of all.filter(({ status }) => status !== 201)) expectProblem(answer, 'domain_conflict');
  });
});

describe('413', () => {
  const KIB = 1024;
  /** Returns JSON of exactly `bytes` bytes. */
  const sized = (bytes: number): string => `{"name":"${'x'.repeat(bytes - 11)}"}`;
  const create = (body: string, headers = {}) =>
    service().ask('/api/v1/apps', { method: 'POST', body, headers });

  test('over 100 KiB, with and without a length', async () => {
    expect(expectInvalid(await create(sized(100 * KIB))).map(({ field }) => field)).toEqual([
      'name',
      'domain',
    ]);
    expectProblem(await create(sized(100 * KIB + 1)), 'payload_too_large');
    const chunked = await send(service().url, '/api/v1/apps', {
      method: 'POST',
      key: service().key,
      headers: { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' },
      body: sized(100 * KIB + 1),
    });
    expectProblem(chunked, 'payload_too_large');
  });

  test('a body that says it is huge is not read', async () => {
    const { hostname, port } = new URL(service().url);
    const head = [
      'POST /api/v1/apps HTTP/1.1',
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${service().key}`,
      'Content-Type: application/json',
      'Content-Length: 10000000000',
    ];
    const answer = await sendRaw(service().url, `${head.join('\r\n')}\r\n\r\n{`);
    expectProblem(answer, 'payload_too_large');
    expect(answer.headers['connection']).toBe('close');
  });

  test('comes before 400', async () => {
    const answer = await service().ask('/api/v1/apps?other=1', { method: 'POST', body: sized(101 * KIB) });
    expectProblem(answer, 'payload_too_large');
  });
});

describe('415', () => {
  const create = (headers: Record<string, string>) =>
    service().ask('/api/v1/apps', {
      method: 'POST',
      headers,
      body: '{"name":"B","domain":"https://b.example"}',
    });

  test('anything but JSON in UTF-8', async () => {
    const wrong = [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Type': 'application/json5' },
      { 'Content-Type': 'application/json; charset=utf-16' },
      { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    ];
    for (const headers of wrong) expectProblem(await create(headers), 'unsupported_media_type');
    const { key, url } = service();
    const untyped = await fetch(`${url}/api/v1/apps?other=1`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(untyped.status).toBe(415);
  });

  test('a charset in any spelling', async () => {
    expect((await create({ 'Content-Type': 'Application/JSON;charset="UTF-8"' })).status).toBe(201);
  });
});

test('the list has own and shared apps by createdAt, without secrets', async () => {
  const [owner, other] = [await service().newTenant(), await service().newAccount()];
  const shared = await service().ask('/api/v1/apps', {
    method: 'POST',
    key: other.key,
    body: { name: 'Blog', domain: 'http://BLOG.example:8080/' },
  });
  const { id } = shared.json as { id: string };
  await service().metadata.shareApp(appId(id), owner.account);
  const answer = await owner.ask('/api/v1/apps');
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject([
    { id: owner.app, name: 'Shop', domain: 'https://shop.example', access: 'owner' },
    { id, name: 'Blog', domain: 'http://blog.example:8080', access: 'shared' },
  ]);
});
