import { readFile, stat } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { Reader, type Response } from 'maxmind';
import { clientAddress } from '../domain/address.ts';
import { every } from '../domain/every.ts';
import { messageOf } from '../domain/thrown.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { coordinates, MAX_LENGTH, type Place } from './context.ts';
import type { Geo } from './journal-rows.ts';
import type { IngestLog } from './retry.ts';
import { cleanText } from './text.ts';

export interface GeoDatabase extends Geo {
  /** Reads the file again if it has changed. If it cannot be read, the old database stays. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a city database in MMDB format: MaxMind's, or a flat one as published on npm. It is held in memory
 * and checked for a new version every minute. Rejects with an Error that describes what is wrong with the
 * file.
 */
export async function openGeo(path: string, log: IngestLog): Promise<GeoDatabase> {
  let current = await read(path).catch((error: unknown) => {
    throw new Error(`Cannot read GEOIP_DATABASE ${path}: ${messageOf(error)}`, { cause: error });
  });
  const refresh = async (): Promise<void> => {
    try {
      if ((await versionOf(path)) === current.version) return;
      current = await read(path);
      log.info({ built: current.reader.metadata.buildEpoch }, 'the GeoIP database was read again');
    } catch (error) {
      log.warn({ err: error }, 'the GeoIP database cannot be read again: the old one stays in use');
    }
  };
  const looking = every({ name: 'GeoIP database', ms: MINUTE_MS, log }, refresh);
  looking.start();
  return {
    locate: (address) => placeOf(lookUp(current.reader, address)),
    refresh,
    close: () => looking.end(),
  };
}

interface Loaded {
  readonly version: string;
  readonly reader: Reader<Response>;
}

async function read(path: string): Promise<Loaded> {
  const version = await versionOf(path);
  return { version, reader: new Reader<Response>(await readFile(path)) };
}

/** Returns a text that changes when the file is written or replaced. */
async function versionOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  return `${ino} ${size} ${mtimeMs}`;
}

/** Looks an address up, in any spelling. */
function lookUp(reader: Reader<Response>, text: string): unknown {
  const address = clientAddress(text);
  if (address === undefined || (isIPv6(address) && reader.metadata.ipVersion === 4)) return null;
  return reader.get(address);
}

/** Returns the place of a record; null if the record names none. */
function placeOf(record: unknown): Place | null {
  const place = {
    country: name(record, ['country', 'iso_code'], ['country_code']),
    region: name(record, ['subdivisions', 0, 'names', 'en'], ['state1']),
    city: name(record, ['city', 'names', 'en'], ['city']),
    ...coordinates(
      at(record, ['location', 'latitude']) ?? at(record, ['latitude']),
      at(record, ['location', 'longitude']) ?? at(record, ['longitude']),
    ),
  };
  const isNowhere =
    place.country === '' && place.region === '' && place.city === '' && place.latitude === null;
  return isNowhere ? null : place;
}

type Path = readonly (string | number)[];

/** Returns the first text found at one of the paths. */
function name(record: unknown, ...paths: readonly Path[]): string {
  for (const path of paths) {
    const value = at(record, path);
    if (typeof value === 'string') return cleanText(value, MAX_LENGTH.place);
  }
  return '';
}

function at(record: unknown, path: Path): unknown {
  let value = record;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[key];
  }
  return value;
}
