import { SessionAnalyticsContainer, startTestService } from 'session-analytics/testing';

const sessions = [{ startedAt: '2026-11-18T10:00:00Z', events: [{ type: 'pageview', path: '/' }] }];
let service;
beforeAll(async () => {
  const seed = { accounts: [{ name: 'Acme', apps: [{ name: 'Shop', sessions }] }] };
  service = await startTestService({ now: '2026-11-20T12:00:00Z', seed });
});
afterAll(() => service.close());
const ask = () =>
  fetch(`${service.url}/api/v1/sessions/pageviews?appId=${service.app().id}`, {
    headers: { Authorization: `Bearer ${service.account().apiKey}` },
  });

test('figures', async () => {
  expect(await (await ask()).json()).toMatchObject([{ path: '/', views: 1 }]);
});

test('what is refused is an Error of the test', async () => {
  for (const refused of [
    service.plant({ accounts: [{ name: '' }] }),
    startTestService({ settings: { PORT: 'x' } }),
    new SessionAnalyticsContainer().start(),
  ]) {
    const error = await refused.catch((thrown) => thrown);
    expect(error instanceof Error).toBe(true);
  }
});

test('an answer that is an error keeps its status', async () => {
  service.fail({ status: 503, times: 1 });
  expect((await ask()).status).toBe(503);
  const broken = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.account().apiKey}`, 'Content-Type': 'application/json' },
    body: '{',
  });
  expect(broken.status).toBe(400);
});
