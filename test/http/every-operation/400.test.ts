import { describe, expect, test } from 'vitest';
import { requiredBy } from '../../support/questions.ts';
import { askRightly, isAboutApp, parameters, READING, withService } from '../operations.ts';
import { endpointOf, expectInvalid } from '../support.ts';

const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '10000' } });

describe.each(READING)('%s', (operationId) => {
  const fields = async (query: string): Promise<string[]> =>
    expectInvalid(await askRightly(service(), operationId, { query })).map(({ field }) => field);
  const listed = parameters(operationId);

  test('unknown and repeated parameters, all named', async () => {
    expect(await fields('&other=1&appid=2&other=3')).toEqual(['other', 'other', 'appid']);
    expect(await fields('&appId[]=1')).toEqual(['appId[]']);
  });

  if (isAboutApp(operationId))
    test('appId missing, not a UUID, twice', async () => {
      const { path } = endpointOf(operationId);
      const { app } = service();
      for (const search of ['', 'appId=', 'appId=1234', `appId=${app}x`, `appId={${app}}`]) {
        const errors = expectInvalid(await service().ask(`${path}?${search}${requiredBy(operationId)}`));
        expect(errors.map(({ field }) => field)).toEqual(['appId']);
      }
      expect(await fields(`&appId=${app}`)).toEqual(['appId']);
    });

  if ('from' in listed)
    test('from and to: form, order, twice', async () => {
      for (const wrong of [
        '',
        '2026-11-20',
        '2026-11-20T10:00:00',
        '1763622960',
        '2026-02-30T00:00:00Z',
        'now',
      ]) {
        expect(await fields(`&from=${wrong}`)).toEqual(['from']);
        expect(await fields(`&to=${wrong}`)).toEqual(['to']);
      }
      expect(await fields('&from=2026-01-02T00:00:00Z&from=2026-01-02T00:00:00Z')).toEqual(['from']);
      expect(await fields('&from=x&to=y')).toEqual(['from', 'to']);
      expect(await fields('&from=2026-01-02T00:00:00Z&to=2026-01-01T23:59:59.999Z')).toEqual(['from']);
      const [plus] = expectInvalid(
        await askRightly(service(), operationId, { query: '&from=2026-01-02T00:00:00+03:30' }),
      );
      expect(plus?.message).toContain('%2B');
      // Rounded inwards, this range holds no millisecond.
      expect(await fields('&from=2026-01-01T00:00:00.0001Z&to=2026-01-01T00:00:00.0009Z')).toEqual(['from']);
    });

  if ('limit' in listed)
    test('limit from 1 to 10,000 in plain digits', async () => {
      for (const wrong of ['', '0', '10001', '-1', '1.0', '1e3', '0x10', '%207', '+7', 'ten', '01']) {
        expect(await fields(`&limit=${wrong}`)).toEqual(['limit']);
      }
      expect((await askRightly(service(), operationId, { query: '&limit=10000' })).status).toBe(200);
    });

  if ('segment' in listed)
    test('segment: empty, unknown, broken in the segment and in the query, twice', async () => {
      for (const wrong of [
        '',
        'os',
        'os=x',
        'os==a;',
        'colour==red',
        'os=@',
        'os==%25',
        'os==%zz',
        'os==%FF',
      ]) {
        expect(await fields(`&segment=${wrong}`)).toEqual(['segment']);
      }
      expect(await fields('&segment=os==a&segment=os==b')).toEqual(['segment']);
      const [error] = expectInvalid(
        await askRightly(service(), operationId, { query: '&segment=os==a;devise==b' }),
      );
      expect(error?.message).toBe(
        'The condition at character 7, "devise==b", has an unknown dimension. Did you mean device? Possible: browser, os, device, screen, language, channel, referrer, country, region, city, source, medium, campaign, term, content, entryPage, exitPage, visitorType, page, event, target, error.',
      );
    });

  if (!('limit' in listed))
    test('a limit, if it is no parameter', async () => {
      expect(await fields('&limit=5')).toEqual(['limit']);
    });

  test('at most 20 errors', async () => {
    const query = Array.from({ length: 30 }, (_, i) => `&p${i}=1`).join('');
    expect(await fields(query)).toHaveLength(20);
  });

  if (!('from' in listed))
    test('from and to are ignored if they are no parameters, even invalid values', async () => {
      const plain = await askRightly(service(), operationId);
      const odd = await askRightly(service(), operationId, { query: '&from=x&from=&to=%zz&to=2026-01-01' });
      expect(odd.status).toBe(plain.status);
      expect(odd.headers['etag']).toBe(plain.headers['etag']);
    });

  test('comes before 403', async () => {
    const stranger = await service().newAccount('suspended');
    expectInvalid(await askRightly(service(), operationId, { key: stranger.key, query: '&other=1' }));
  });
});
