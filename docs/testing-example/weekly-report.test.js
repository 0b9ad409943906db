import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startTestService } from 'session-analytics/testing';
import { weeklyReport } from './weekly-report.js';

const page = (path) => ({ type: 'pageview', path });

const SEED = {
  accounts: [
    {
      name: 'Acme',
      apps: [
        {
          name: 'Shop',
          domain: 'https://shop.example',
          sessions: [
            { startedAt: '2026-11-18T10:00:00Z', events: [page('/'), page('/pricing')] },
            { startedAt: '2026-11-19T22:00:00Z', events: [page('/')] },
            // Before the last seven days.
            { startedAt: '2026-11-01T10:00:00Z', events: [page('/old')] },
          ],
        },
      ],
    },
    { name: 'Somebody else' },
  ],
};

let service;
let options;
before(async () => {
  service = await startTestService({ seed: SEED, now: '2026-11-20T12:00:00Z' });
  options = {
    baseUrl: service.url,
    apiKey: service.account('Acme').apiKey,
    appId: service.app('Shop').id,
    now: service.clock.now(),
  };
});
after(() => service.close());
afterEach(() => service.recover());

test('counts the last seven days', async () => {
  assert.equal(await weeklyReport(options), '2 sessions, 3 pageviews, most on / (2)');
});

test('counts what has come in since', async () => {
  await service.record('Shop', [
    { startedAt: '2026-11-20T08:00:00Z', events: [page('/new'), page('/new'), page('/new')] },
  ]);
  assert.equal(await weeklyReport(options), '3 sessions, 6 pageviews, most on /new (3)');
});

test('says that the key has no access', async () => {
  const { apiKey } = service.account('Somebody else');
  assert.equal(await weeklyReport({ ...options, apiKey }), 'The key cannot read this app.');
});

test('outlasts a short failure, and says that a long one goes on', async () => {
  const short = service.fail({ status: 503, times: 1 });
  assert.match(await weeklyReport(options), /pageviews/);
  assert.equal(short.hits, 1);
  service.fail({ status: 503 });
  assert.equal(await weeklyReport({ ...options, maxRetries: 0 }), 'The figures are not available now.');
});

test('waits until its key may ask again', async () => {
  await service.setRateLimit(options.apiKey, { remaining: 1, resetSeconds: 2 });
  assert.match(await weeklyReport(options), /pageviews/);
});
