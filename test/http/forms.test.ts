import { mkdtempSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { identifier, join as listed, quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { type Column, columnsOf } from '../../src/http/forms/columns.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { questionPath } from '../support/questions.ts';
import { askRightly, withService } from './operations.ts';
import { AT_NOON, SAMPLE } from './sample.ts';
import { endpointOf } from './support.ts';

const LISTS = [
  'listPageviews',
  'listTimeSpent',
  'listUserGrowth',
  'listLocations',
  'listUtmCampaigns',
  'listBreakdown',
];
const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
const PARQUET = 'application/vnd.apache.parquet';
const ARROW = 'application/vnd.apache.arrow.stream';

const service = withService({ ...AT_NOON, env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000' } });
beforeAll(async () => {
  await service().record(SAMPLE);
  // Long lists, and names that break a careless CSV writer.
  await service().record(
    Array.from({ length: 60 }, (_, i) => ({
      id: `many-${i}`,
      visitorId: 'many',
      startedAt: '2026-11-19T08:00:00.000Z',
      context: {
        userAgent: SAMPLE[1].context.userAgent,
        utm: { source: i % 2 === 0 ? `=a"b,${i}` : `ünï ${i}`, campaign: '+1' },
        location: { country: 'DE', latitude: i - 30.5, longitude: i },
      },
      events: [
        { type: 'pageview', timestamp: '2026-11-19T08:00:00.000Z', path: `/a,"b" é/${i}` },
        { type: 'engagement', timestamp: '2026-11-19T08:00:01.000Z', path: `/a,"b" é/${i}`, durationMs: i },
      ],
    })),
  );
});

interface Bytes {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** Returns the bytes of the wire, still compressed. */
function fetchBytes(
  operationId: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Bytes> {
  const url = `${service().url}${questionPath(endpointOf(operationId), service().app)}`;
  const options = { method, agent: false, headers: { Authorization: `Bearer ${service().key}`, ...headers } };
  return new Promise((resolve, reject) => {
    const req = get(url, options, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () =>
        resolve({ status: res.statusCode, headers: res.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    req.on('error', reject);
  });
}

const inForm = async (operationId: string, accept: string) => fetchBytes(operationId, { Accept: accept });
const rowsOf = async (operationId: string) =>
  (await askRightly(service(), operationId)).json as Record<string, unknown>[];
const columns = (operationId: string): readonly Column[] => columnsOf(endpointOf(operationId)) ?? [];

/** Parses RFC 4180 by its grammar. An empty field without quotes is null. */
function readCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let record: (string | null)[] = [];
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (match === null) throw new Error('not RFC 4180');
    const [, quoted, bare, end] = match;
    record.push(quoted === undefined ? bare || null : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}

describe.each(LISTS)('%s', (operationId) => {
  test('CSV: a header and the same rows', async () => {
    const { status, headers, bytes } = await inForm(operationId, CSV);
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    const [header, ...records] = readCsv(bytes.toString());
    expect(header).toEqual(columns(operationId).map(({ name }) => name));
    const rows = await rowsOf(operationId);
    expect(records).toEqual(
      rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value)))),
    );
    expect(rows.length).toBeGreaterThan(1);
  });

  test('NDJSON: a row per line', async () => {
    const { headers, bytes } = await inForm(operationId, NDJSON);
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = bytes.toString().split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(await rowsOf(operationId));
  });

  test('Parquet and Arrow: the same rows with their types', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'analytics-forms-'));
    onTestFinished(() => removeFolder(folder));
    for (const [accept, format] of [
      [PARQUET, 'Parquet'],
      [ARROW, 'ArrowStream'],
    ] as const) {
      const { headers, bytes } = await inForm(operationId, accept);
      expect(headers['content-type']).toBe(accept);
      const path = join(folder, format);
      writeFileSync(path, bytes);
      const names = columns(operationId).map(({ name }) => identifier(name));
      const read = (select: Sql): Promise<Record<string, unknown>[]> =>
        service().db.query({
          name: 'read back',
          sql: sql`SELECT ${select} FROM file(${quoted(path)}, ${identifier(format)})`,
          row: z.record(z.string(), z.unknown()),
        });
      expect(await read(listed(names))).toEqual(await rowsOf(operationId));
      const [types] = await read(listed(names.map((name) => sql`any(toTypeName(${name})) AS t_${name}`)));
      expect(
        Object.values(types ?? {}).map((type) => String(type).replace(/Nullable\((.*)\)/, '$1')),
      ).toEqual(columns(operationId).map(({ type }) => type));
    }
  });

  test('each form has its own tag; each tag gets 304, also with HEAD', async () => {
    const tags = new Set<unknown>();
    for (const accept of ['application/json', CSV, NDJSON, PARQUET, ARROW]) {
      const full = await inForm(operationId, accept);
      const etag = String(full.headers['etag']);
      tags.add(etag);
      const again = await fetchBytes(operationId, { Accept: accept, 'If-None-Match': etag });
      expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, etag]);
      expect(again.headers['vary']).toBe('Accept, Accept-Encoding, Authorization');
      expect(again.headers['x-ratelimit-remaining']).toBeDefined();
      const head = await fetchBytes(operationId, { Accept: accept }, 'HEAD');
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
      expect(head.headers['content-length']).toBe(String(full.bytes.length));
      expect(head.headers['content-type']).toBe(full.headers['content-type']);
      const other = await fetchBytes(operationId, { Accept: CSV, 'If-None-Match': etag });
      expect(other.status).toBe(accept === CSV ? 304 : 200);
    }
    expect(tags.size).toBe(5);
  });
});

describe('Accept', () => {
  const typeFor = async (accept: string): Promise<string> => {
    const { status, headers } = await inForm('listPageviews', accept);
    expect(status).toBe(200);
    return String(headers['content-type']).split(';')[0] ?? '';
  };

  test.each([
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/*', 'application/json'],
    ['text/*', CSV],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
    [`${CSV};q=0.5, ${NDJSON};q=0.9`, NDJSON],
    [`${CSV}, application/json`, 'application/json'],
    [`application/json;q=0.1, */*`, CSV],
    [`${PARQUET}; q=0.8, application/json;q=0.7`, PARQUET],
    ['TEXT/CSV; charset=utf-8', CSV],
    [`${CSV};q=0, */*;q=0`, 'application/json'],
    [`${CSV};q=2`, 'application/json'],
    // Nothing fits: JSON, and no 406.
    ['text/html', 'application/json'],
    ['image/png, nonsense', 'application/json'],
    ['', 'application/json'],
  ])('%s → %s', async (accept, type) => {
    expect(await typeFor(accept)).toBe(type);
  });

  test('objects, the list of apps and errors are JSON, whatever Accept says', async () => {
    for (const operationId of ['getOverviewKpis', 'listApps']) {
      const { headers } = await askRightly(service(), operationId, { headers: { Accept: CSV } });
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    }
    const wrong = await askRightly(service(), 'listPageviews', { query: '&x=1', headers: { Accept: CSV } });
    expect(wrong.headers['content-type']).toBe('application/problem+json');
  });
});

describe('Accept-Encoding', () => {
  const coded = (coding: string, more: Record<string, string> = {}) =>
    fetchBytes('listPageviews', { 'Accept-Encoding': coding, ...more });
  const DECODE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    gzip: gunzipSync,
    br: brotliDecompressSync,
  };

  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
  ])('%s: %s, fewer bytes, the same content', async (asked, coding) => {
    const plain = await fetchBytes('listPageviews');
    const { headers, bytes } = await coded(asked);
    expect(headers['content-encoding']).toBe(coding);
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(bytes.length).toBeLessThan(plain.bytes.length);
    expect(DECODE[coding]?.(bytes).toString()).toBe(plain.bytes.toString());
  });

  test.each(['', 'identity', 'deflate', 'gzip;q=0', 'zstd'])('%s: not compressed', async (asked) => {
    const { headers } = await coded(asked);
    expect(headers['content-encoding']).toBeUndefined();
  });

  test('each coding has its own strong tag; the tag of every accepted coding gets 304', async () => {
    const tags = await Promise.all(
      ['identity', 'gzip', 'br'].map(async (coding) => String((await coded(coding)).headers['etag'])),
    );
    expect(new Set(tags).size).toBe(3);
    for (const etag of tags) {
      const again = await coded('gzip, br', { 'If-None-Match': etag });
      expect([again.status, again.headers['etag']]).toEqual([304, etag]);
    }
    const [plain = '', gzip = ''] = tags;
    expect((await coded('identity', { 'If-None-Match': gzip })).status).toBe(200);
    expect((await coded('identity', { 'If-None-Match': plain })).status).toBe(304);
  });

  test('neither small answers nor compressed formats', async () => {
    const small = await fetchBytes('getDataBounds', { 'Accept-Encoding': 'gzip, br' });
    expect(small.headers['content-encoding']).toBeUndefined();
    const parquet = await coded('gzip, br', { Accept: PARQUET });
    expect(parquet.headers['content-encoding']).toBeUndefined();
    const csv = await coded('br', { Accept: CSV });
    expect(csv.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(csv.bytes).toString()).toMatch(/^"path",/);
  });
});

test('Server-Timing names the time of each stage', async () => {
  const names = (header: unknown) =>
    String(header)
      .split(', ')
      .map((part) => /^(\w+);dur=\d+(\.\d+)?(;desc="\d+ rows read")?$/.exec(part)?.[1]);
  // After new events, whatever was asked before.
  await service().record(SAMPLE.map((session) => ({ ...session, id: `${session.id}-again` })));
  const first = await fetchBytes('getTrafficHeatmap');
  expect(first.headers['server-timing']).toMatch(/store;dur=[\d.]+;desc="[1-9]\d* rows read"$/);
  const full = await fetchBytes('listPageviews');
  expect(names(full.headers['server-timing'])).toEqual(['auth', 'limit', 'plan', 'store']);
  const known = await fetchBytes('listPageviews', { 'If-None-Match': String(full.headers['etag']) });
  expect(names(known.headers['server-timing'])).toEqual(['auth', 'limit', 'plan']);
});
