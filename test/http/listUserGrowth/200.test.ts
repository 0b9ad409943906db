import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'listUserGrowth', { query })).json;

const WEDNESDAY = { date: '2026-11-18', sessions: 1, visitors: 1, pageviews: 2, clicks: 1 };
const THURSDAY = { date: '2026-11-19', sessions: 1, visitors: 1, pageviews: 1, clicks: 0 };
const none = (date: string) => ({ date, sessions: 0, visitors: 0, pageviews: 0, clicks: 0 });

test('from the first to the last day with data', async () => {
  expect(await ask()).toEqual([WEDNESDAY, THURSDAY]);
});

test('every day between two bounds, a cut day only inside', async () => {
  expect(await ask('&from=2026-11-17T23:59:59.999Z&to=2026-11-18T10:00:00Z')).toEqual([
    none('2026-11-17'),
    { ...WEDNESDAY, pageviews: 1, clicks: 0 },
  ]);
});

test('4,000 days', async () => {
  const days = await ask('&from=2016-01-01T00:00:00Z&to=2026-12-13T23:59:59.999Z');
  expect(days).toHaveLength(4000);
});
