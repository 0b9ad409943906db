import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'listTimeSpent', { query })).json;

test('engagement per path, averaged over its pageviews in the range', async () => {
  expect(await ask()).toEqual([{ path: '/', totalMs: 5000, averageMs: 2500 }]);
  expect(await ask('&to=2026-11-18T23:00:00Z&limit=1')).toEqual([
    { path: '/', totalMs: 5000, averageMs: 5000 },
  ]);
  expect(await ask('&from=2026-11-19T00:00Z')).toEqual([]);
});
