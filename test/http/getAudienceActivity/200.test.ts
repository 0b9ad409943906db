import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'getAudienceActivity', { query })).json;

test('averages over 672 Tehran hours', async () => {
  const { days, ...window } = (await ask()) as {
    days: { dayOfWeek: number; sessions: number[]; pageviews: number[] }[];
  };
  expect(window).toEqual({
    timezone: 'Asia/Tehran',
    from: '2026-10-23T12:30:00.000Z',
    to: '2026-11-20T12:29:59.999Z',
    windowDays: 28,
  });
  expect(days.map(({ dayOfWeek }) => dayOfWeek)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const busy = days.flatMap(({ dayOfWeek, sessions, pageviews }) =>
    sessions.flatMap((mean, hour) =>
      mean > 0 ? [{ dayOfWeek, hour, mean, pageviews: pageviews[hour] }] : [],
    ),
  );
  expect(busy).toEqual([
    { dayOfWeek: 3, hour: 13, mean: 0.25, pageviews: 0.5 },
    { dayOfWeek: 5, hour: 1, mean: 0.25, pageviews: 0.25 },
  ]);
});
