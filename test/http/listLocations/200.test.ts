import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'listLocations', { query })).json;

test('sessions per place with coordinates', async () => {
  expect(await ask()).toEqual([
    { country: 'IR', region: null, city: 'Tehran', latitude: 35.7, longitude: 51.4, count: 1 },
  ]);
  expect(await ask('&to=2026-11-18T09:59:59.999Z&limit=5')).toEqual([]);
});
