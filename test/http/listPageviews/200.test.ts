import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'listPageviews', { query })).json;

const HOME = { path: '/', views: 2, uniqueSessions: 2 };
const PRICING = { path: '/pricing', views: 1, uniqueSessions: 1 };

test('views and sessions per path, cut by limit after ordering', async () => {
  expect(await ask()).toEqual([HOME, PRICING]);
  expect(await ask('&limit=1')).toEqual([HOME]);
});

test('both bounds are inclusive, to the millisecond, in any offset', async () => {
  expect(await ask('&from=2026-11-18T10:00:20.000Z&to=2026-11-18T10:00:20Z')).toEqual([PRICING]);
  expect(await ask('&from=2026-11-18T13:30:20.000%2B03:30&to=2026-11-18T13:30:20%2B03:30')).toEqual([
    PRICING,
  ]);
  expect(await ask('&from=2026-11-18T10:00:20.0001Z&to=2026-11-19T21:59:59.999Z')).toEqual([]);
  expect(await ask('&from=2026-11-18T10:00:20.001Z')).toEqual([{ ...HOME, views: 1, uniqueSessions: 1 }]);
  expect(await ask('&to=2026-11-18T10:00:19.999999Z')).toEqual([{ ...HOME, views: 1, uniqueSessions: 1 }]);
});
