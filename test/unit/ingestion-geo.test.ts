import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openGeo } from '../../src/ingestion/geo.ts';
import { SILENT } from '../store/ingestion-support.ts';
import { type MmdbValue, mmdb } from '../support/mmdb.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-geo-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const TEHRAN: MmdbValue = {
  country: { iso_code: 'IR', names: { en: 'Iran' } },
  subdivisions: [{ iso_code: '23', names: { en: 'Tehran Province' } }],
  city: { names: { en: 'Tehran' } },
  location: { latitude: 35.6944, longitude: 51.4215 },
};
const place = (country: string, region = '', city = '', at: [number, number] | null = null) => ({
  country,
  region,
  city,
  latitude: at?.[0] ?? null,
  longitude: at?.[1] ?? null,
});

const file = (networks: Readonly<Record<string, MmdbValue>>): string => {
  const path = join(folder, 'city.mmdb');
  // An update writes the new file elsewhere, then moves it.
  writeFileSync(`${path}.new`, mmdb(networks));
  renameSync(`${path}.new`, path);
  return path;
};

test('an address is looked up in both forms of a city database', async () => {
  const geo = await openGeo(
    file({
      '203.0.113.0/25': TEHRAN,
      '198.51.100.0/24': { country: { iso_code: 'DE' } },
      '192.0.2.0/24': {
        country_code: 'BR',
        state1: 'Bahia',
        city: 'Salvador',
        latitude: -12.97,
        longitude: -38.5,
      },
      '192.0.3.0/24': { autonomous_system_number: 7 },
    }),
    SILENT,
  );
  const tehran = place('IR', 'Tehran Province', 'Tehran', [35.6944, 51.4215]);
  expect(geo.locate('203.0.113.9')).toEqual(tehran);
  expect(geo.locate('::ffff:203.0.113.9')).toEqual(tehran);
  expect(geo.locate('[::FFFF:CB00:7109]:443')).toEqual(tehran);
  expect(geo.locate('198.51.100.1')).toEqual(place('DE'));
  expect(geo.locate('192.0.2.200')).toEqual(place('BR', 'Bahia', 'Salvador', [-12.97, -38.5]));
  for (const unknown of [
    '203.0.113.200',
    '192.0.3.1',
    '8.8.8.8',
    '2001:db8::1',
    '',
    'unknown',
    '203.0.113',
  ]) {
    expect(geo.locate(unknown)).toBeNull();
  }
  await geo.close();
});

test('a new version of the file is loaded, and an unreadable one changes nothing', async () => {
  const path = file({ '203.0.113.0/24': TEHRAN });
  const geo = await openGeo(path, SILENT);
  file({ '203.0.113.0/24': { country: { iso_code: 'TR' } } });
  await geo.refresh();
  expect(geo.locate('203.0.113.9')).toEqual(place('TR'));
  writeFileSync(path, 'no database');
  await geo.refresh();
  expect(geo.locate('203.0.113.9')).toEqual(place('TR'));
  rmSync(path);
  await geo.refresh();
  expect(geo.locate('203.0.113.9')).toEqual(place('TR'));
  await geo.close();
});

test('a missing file, or one that is no database, stops the start', async () => {
  const path = join(folder, 'city.mmdb');
  await expect(openGeo(path, SILENT)).rejects.toThrow(`Cannot read GEOIP_DATABASE ${path}`);
  writeFileSync(path, 'no database');
  await expect(openGeo(path, SILENT)).rejects.toThrow(`Cannot read GEOIP_DATABASE ${path}`);
});
