import { startTestService } from 'session-analytics/testing';

test('a service that nobody closes', async () => {
  const { url } = await startTestService();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});
