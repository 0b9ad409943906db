import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'listUtmCampaigns', { query })).json;

test('combinations with a source', async () => {
  expect(await ask()).toEqual([
    { source: 'news', medium: 'email', campaign: null, term: null, content: null, sessions: 1, visitors: 1 },
  ]);
  expect(await ask('&from=2026-11-18T10:00:00.001Z')).toEqual([]);
});
