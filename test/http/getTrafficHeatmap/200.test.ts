import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'getTrafficHeatmap', { query })).json;

test('the last 7 Tehran days by Tehran hours', async () => {
  const { days, ...window } = (await ask()) as {
    days: { date: string; sessions: number[]; pageviews: number[] }[];
  };
  expect(window).toEqual({
    timezone: 'Asia/Tehran',
    from: '2026-11-13T20:30:00.000Z',
    to: '2026-11-20T20:29:59.999Z',
  });
  expect(days.map(({ date }) => date)).toEqual([14, 15, 16, 17, 18, 19, 20].map((date) => `2026-11-${date}`));
  const busy = days.flatMap(({ date, sessions, pageviews }) =>
    sessions.flatMap((count, hour) => (count > 0 ? [{ date, hour, count, pageviews: pageviews[hour] }] : [])),
  );
  expect(busy).toEqual([
    { date: '2026-11-18', hour: 13, count: 1, pageviews: 2 },
    { date: '2026-11-20', hour: 1, count: 1, pageviews: 1 },
  ]);
});
