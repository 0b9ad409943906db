import { expect, test } from 'vitest';
import { withService } from '../cases.ts';
import { type Ask, expectInvalid } from '../support.ts';

const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000' } });
const fields = async (body: unknown, more: Ask = {}, query = ''): Promise<string[]> => {
  const answer = await service().ask(`/api/v1/apps${query}`, { method: 'POST', body, ...more });
  return expectInvalid(answer).map(({ field }) => field);
};
const RIGHT = { name: 'Blog', domain: 'https://blog.example' };

test('what is missing, unknown or of the wrong type, all at once', async () => {
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

test('domains that are not an origin', async () => {
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

test('malformed JSON, also in its bytes', async () => {
  for (const body of ['', '{', '{"name":"a",}', '{"name":\'a\'}', 'name=a']) {
    expect(await fields(body)).toEqual(['body']);
  }
});

test('parameters, before plan and conflict', async () => {
  const suspended = await service().newAccount('suspended');
  expect(await fields(RIGHT, { key: suspended.key }, '?dryRun=1')).toEqual(['dryRun']);
});
