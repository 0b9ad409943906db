import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestService, testService } from '../support.ts';
import { batchFor, PATH, post, visit } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

const viewsOf = async (path: string): Promise<number | undefined> => {
  const { json } = await service.ask(`/api/v1/sessions/pageviews?appId=${service.app}`);
  return (json as { path: string; views: number }[]).find((item) => item.path === path)?.views;
};

test('acknowledged events are visible', async () => {
  const answer = await post(service, batchFor(service, { sessions: [visit('a', '/seen?x=1')] }));
  expect(answer).toMatchObject({ status: 200, json: { accepted: 1, rejected: [] } });
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(await viewsOf('/seen')).toBe(1);
});

test('plain text is as good as JSON', async () => {
  const text = JSON.stringify(batchFor(service, { sessions: [visit('b', '/beacon')] }));
  const answer = await post(service, text, { 'Content-Type': 'text/plain;charset=UTF-8' });
  expect(answer).toMatchObject({ status: 200, json: { accepted: 1 } });
  expect(await viewsOf('/beacon')).toBe(1);
});

test('a repeated batch is a duplicate, at once or later', async () => {
  const batch = batchFor(service, { sessions: [visit('c', '/once')] });
  const answers = await Promise.all([batch, batch, batch].map((body) => post(service, body)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await post(service, batch)).json).toEqual({ accepted: 0, rejected: [], duplicate: true });
  expect(await viewsOf('/once')).toBe(1);
});

test('invalid parts are rejected one by one', async () => {
  const good = visit('d', '/kept');
  const sessions = [{ id: 'no visitor' }, { ...good, events: [{ type: 'nothing' }, ...good.events] }];
  expect((await post(service, batchFor(service, { sessions, unknown: 1 }))).json).toEqual({
    accepted: 1,
    rejected: [
      { session: 0, event: null, code: 'invalid_session', message: expect.any(String) },
      { session: 1, event: 0, code: 'invalid_event', message: expect.any(String) },
    ],
  });
  expect(await viewsOf('/kept')).toBe(1);
});

test('a session without a user agent gets that of the request', async () => {
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
  await post(service, batchFor(service, { sessions: [visit('e', '/agent')] }), { 'User-Agent': agent });
  const { json } = await service.ask(`/api/v1/sessions/overview/extended?appId=${service.app}`);
  const { browsers } = (json as { technology: { browsers: { name: string }[] } }).technology;
  expect(browsers.map(({ name }) => name)).toContain('Firefox');
});

test.each([
  'https://shop.example',
  'http://shop.example:8080',
  'https://www.shop.example',
  'app://shop.example',
])('a page at %s may send and read the answer', async (origin) => {
  const answer = await post(service, batchFor(service), { Origin: origin });
  expect(answer.status).toBe(200);
  expect(answer.headers['access-control-allow-origin']).toBe(origin);
  expect(answer.headers['vary']).toBe('Origin');
});

test('500 sessions with 5,000 events are a batch', async () => {
  const { events, ...rest } = visit();
  const sessions = Array.from({ length: 500 }, (_, i) => ({
    ...rest,
    id: `m${i}`,
    events: Array(10).fill(events[0]),
  }));
  expect((await post(service, batchFor(service, { sessions }))).json).toEqual({
    accepted: 5_000,
    rejected: [],
  });
});

test('a preflight is answered for every origin', async () => {
  const headers = { Origin: 'https://other.example', 'Access-Control-Request-Method': 'POST' };
  const answer = await service.ask(PATH, { method: 'OPTIONS', key: null, headers });
  expect(answer).toMatchObject({ status: 204, text: '' });
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': 'https://other.example',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'Content-Type',
    vary: 'Origin',
  });
  expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
});

test('ids are case-insensitive', async () => {
  const batchId = randomUUID();
  await post(service, batchFor(service, { batchId, appId: service.app.toUpperCase() }));
  const again = await post(service, batchFor(service, { batchId: batchId.toUpperCase() }));
  expect(again.json).toMatchObject({ duplicate: true });
});
