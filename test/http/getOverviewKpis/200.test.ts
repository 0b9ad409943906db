import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'getOverviewKpis', { query })).json;

const NOTHING = {
  sessions: 0,
  visitors: 0,
  pageviews: 0,
  clicks: 0,
  errors: 0,
  bounceRate: 0,
  averageSessionDurationMs: 0,
  pagesPerSession: 0,
};
const THURSDAY = {
  ...NOTHING,
  sessions: 1,
  visitors: 1,
  pageviews: 1,
  averageSessionDurationMs: 60_000,
  pagesPerSession: 1,
};
const WEDNESDAY = {
  ...NOTHING,
  sessions: 1,
  visitors: 1,
  pageviews: 2,
  clicks: 1,
  errors: 1,
  averageSessionDurationMs: 21_000,
  pagesPerSession: 2,
};
const day = (date: string) => ({ from: `${date}T00:00:00.000Z`, to: `${date}T23:59:59.999Z` });

test('today against yesterday, in UTC', async () => {
  expect(await ask()).toMatchObject({
    current: { ...day('2026-11-20'), ...NOTHING },
    previous: { ...day('2026-11-19'), ...THURSDAY },
    change: { sessions: -1, averageSessionDurationMs: -60_000 },
    changePercent: { sessions: -100, clicks: null },
  });
});

test('a range against the one of its length before it', async () => {
  const { from, to } = day('2026-11-19');
  expect(await ask(`&from=${from}&to=${to}`)).toEqual({
    current: { from, to, ...THURSDAY },
    previous: { ...day('2026-11-18'), ...WEDNESDAY },
    change: {
      sessions: 0,
      visitors: 0,
      pageviews: -1,
      clicks: -1,
      errors: -1,
      bounceRate: 0,
      averageSessionDurationMs: 39_000,
      pagesPerSession: -1,
    },
    changePercent: {
      sessions: 0,
      visitors: 0,
      pageviews: -50,
      clicks: -100,
      errors: -100,
      bounceRate: null,
      averageSessionDurationMs: 185.71,
      pagesPerSession: -50,
    },
  });
});

test('one bound: from until the end of today, to from the start of its day', async () => {
  expect(await ask('&from=2026-11-18T10:00:00.001Z')).toMatchObject({
    current: { from: '2026-11-18T10:00:00.001Z', to: '2026-11-20T23:59:59.999Z', sessions: 1 },
  });
  expect(await ask('&to=2026-11-18T10:00:00Z')).toMatchObject({
    current: { from: '2026-11-18T00:00:00.000Z', to: '2026-11-18T10:00:00.000Z', pageviews: 1 },
  });
});
