import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'getDataBounds', { query })).json;

test('starts of the earliest and the latest session', async () => {
  expect(await ask()).toEqual({ oldest: '2026-11-18T10:00:00.000Z', newest: '2026-11-19T22:00:00.000Z' });
});

test('nulls without data', async () => {
  const { key } = await service().newAccount();
  const created = await service().ask('/api/v1/apps', {
    method: 'POST',
    key,
    body: { name: 'Empty', domain: 'https://empty.example' },
  });
  const { id } = created.json as { id: string };
  const answer = await service().ask(`/api/v1/sessions/data-bounds?appId=${id}`, { key });
  expect(answer.json).toEqual({ oldest: null, newest: null });
});
