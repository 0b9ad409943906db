import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATHS } from '../../src/client/client.ts';
import {
  ApiError,
  type Client,
  createClient,
  type Format,
  type Question,
  UnclearCreationError,
} from '../../src/client/index.ts';
import { EXAMPLE_RANGE, EXAMPLES } from '../../src/http/docs/openapi-examples.ts';
import { QUESTIONS } from '../support/questions.ts';
import { withService } from './operations.ts';
import { AT_NOON, SAMPLE } from './sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const client = (apiKey = service().key): Client => createClient({ baseUrl: service().url, apiKey });

test('knows every operation and where it is', () => {
  expect(PATHS).toEqual(Object.fromEntries(QUESTIONS.map(({ operationId, path }) => [operationId, path])));
});

test('takes nothing of the service, and no package, into a bundle', async () => {
  const entry = fileURLToPath(new URL('../../src/client/index.ts', import.meta.url));
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'neutral',
    write: false,
    metafile: true,
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((input) => !input.startsWith('src/client/'))).toEqual([]);
  expect(inputs.length).toBeGreaterThan(1);
});

test('every question, as documented', async () => {
  const { app: appId } = service();
  const range = { appId, from: EXAMPLE_RANGE.from, to: new Date(EXAMPLE_RANGE.to) };
  const one = client();
  const asked: Partial<Record<Question, Promise<{ readonly data: unknown }>>> = {
    getDataBounds: one.getDataBounds({ appId }),
    getExtendedOverview: one.getExtendedOverview(range),
    getOverviewKpis: one.getOverviewKpis(range),
    listPageviews: one.listPageviews({ ...range, limit: 10 }),
    listTimeSpent: one.listTimeSpent(range),
    listUserGrowth: one.listUserGrowth(range),
    getTrafficHeatmap: one.getTrafficHeatmap({ appId }),
    getAudienceActivity: one.getAudienceActivity({ appId }),
    listLocations: one.listLocations(range),
    listUtmCampaigns: one.listUtmCampaigns(range),
    getSeries: one.getSeries({ ...range, interval: 'day', timezone: 'Asia/Tehran' }),
    listBreakdown: one.listBreakdown({ ...range, by: 'country' }),
    getRealtime: one.getRealtime({ appId }),
  };
  for (const [question, answer] of Object.entries(asked)) {
    expect((await answer).data).toEqual(EXAMPLES[question]);
  }
  const { data: apps } = await one.listApps();
  expect(apps.map(({ id }) => id)).toEqual([appId]);
});

describe('results', () => {
  test('state the tag, the window and the age of the data', async () => {
    const first = await client().listPageviews({ appId: service().app });
    expect(first).toMatchObject({ notModified: false, rateLimit: { limit: 120 } });
    expect(first.dataAsOf?.getTime()).toBeGreaterThan(0);
    const [top] = first.data;
    expect(top?.views).toBe(2);
  });

  test('are not sent again unless something changed', async () => {
    // A key whose window begins here, and does not end meanwhile.
    const { key, app: appId } = await service().newTenant();
    const one = client(key);
    const first = await one.listPageviews({ appId });
    const second = await one.listPageviews({ appId });
    expect(second).toMatchObject({ notModified: true, etag: first.etag });
    expect(second.data).toEqual(first.data);
    expect(second.rateLimit?.remaining).toBe((first.rateLimit?.remaining ?? 0) - 1);
  });
});

describe('maxStaleSeconds', () => {
  test('accepts an answer from before the newest events, and tells its age', async () => {
    const { app: appId } = service();
    const [one, other] = [client(), client()];
    const before = await one.listPageviews({ appId });
    expect(before.ageSeconds).toBeNull();
    await service().record(SAMPLE.map((session) => ({ ...session, id: randomUUID() })));
    const old = await one.listPageviews({ appId }, { maxStaleSeconds: 60 });
    expect(old).toMatchObject({ notModified: true, etag: before.etag });
    expect(old.ageSeconds).toBeGreaterThanOrEqual(0);
    const elsewhere = await other.listPageviews({ appId }, { maxStaleSeconds: 60 });
    expect(elsewhere).toMatchObject({ notModified: false, data: before.data });
    const now = await one.listPageviews({ appId });
    expect(now).toMatchObject({ notModified: false, ageSeconds: null });
    expect(now.data).not.toEqual(before.data);
  });
});

describe('download', () => {
  const list = (format: Format) =>
    client().download('listPageviews', { appId: service().app, limit: 2 }, { format });

  test('returns the bytes of a list in every format', async () => {
    const { data: rows } = await client().listPageviews({ appId: service().app, limit: 2 });
    const [csv, ndjson, parquet, arrow] = await Promise.all(
      (['csv', 'ndjson', 'parquet', 'arrow'] as const).map(list),
    );
    const text = (bytes?: Uint8Array): string => new TextDecoder().decode(bytes);
    const lines = rows.map((row) => `"${row.path}",${row.views},${row.uniqueSessions}`);
    expect(text(csv?.data).trim().split(/\r?\n/)).toEqual(['"path","views","uniqueSessions"', ...lines]);
    expect(text(ndjson?.data)).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expect([text(parquet?.data.slice(0, 4)), text(parquet?.data.slice(-4))]).toEqual(['PAR1', 'PAR1']);
    const table = tableFromIPC(arrow?.data ?? new Uint8Array());
    expect(table.toArray().map(({ path, views }) => [path, Number(views)])).toEqual(
      rows.map(({ path, views }) => [path, views]),
    );
    const tags = [csv, ndjson, parquet, arrow].map((answer) => answer?.etag);
    expect(new Set(tags).size).toBe(4);
    expect(csv).toMatchObject({ notModified: false, rateLimit: { limit: 120 } });
  });

  test('rejects as every call does', async () => {
    const refused = client().download('listPageviews', { appId: 'shop' }, { format: 'csv' });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'validation_failed' });
  });
});

test('the list of apps is queried again after a creation', async () => {
  const { key } = await service().newAccount();
  const one = client(key);
  expect((await one.listApps()).data).toEqual([]);
  const { data, etag, rateLimit } = await one.createApp({ name: 'Blog', domain: 'https://blog.example' });
  expect(data.secretKey).toMatch(/^app_secret_/);
  expect([etag, rateLimit?.remaining]).toEqual([null, 118]);
  expect((await one.listApps()).data.map(({ id }) => id)).toEqual([data.id]);
});

test('an app whose creation was answered in vain is found again', async () => {
  const { key } = await service().newAccount();
  let isLost = false;
  // The first answer is lost on its way.
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (init?.method !== 'POST' || isLost) return response;
    isLost = true;
    throw new TypeError('terminated');
  };
  const one = createClient({ baseUrl: service().url, apiKey: key, fetch });
  const blog = { name: 'Blog', domain: 'https://blog.example:443/' };
  const error = await one.createApp(blog).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(UnclearCreationError);
  const { data: apps } = await one.listApps();
  expect(error).toMatchObject({ code: 'domain_conflict', app: apps[0] });
  expect(apps).toHaveLength(1);
  // Nothing of this call was lost.
  await expect(one.createApp(blog)).rejects.toMatchObject({ name: 'ApiError', code: 'domain_conflict' });
});

test('refusals are typed', async () => {
  const error = await client()
    .listPageviews({ appId: 'shop' })
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 400,
    code: 'validation_failed',
    errors: [{ field: 'appId', message: 'Must be a UUID.' }],
  });
  await expect(client(service().secretKey).listApps()).rejects.toMatchObject({ code: 'unauthorized' });
});

test('poll yields after a new event, and not before', async () => {
  const controller = new AbortController();
  const { key, app: appId } = await service().newTenant();
  const seen: number[] = [];
  const changes = client(key).poll('listPageviews', { appId }, { signal: controller.signal, intervalMs: 50 });
  for await (const { data } of changes) {
    seen.push(data.length);
    if (seen.length === 1) await service().record(SAMPLE, appId);
    else controller.abort();
  }
  expect(seen).toEqual([0, 2]);
});

test('live yields after a new event, and throws when the key is revoked', async () => {
  const { key, app: appId, account } = await service().newTenant();
  const seen: number[] = [];
  const answers = client(key).live('listPageviews', { appId });
  const read = async (): Promise<void> => {
    for await (const { data, etag } of answers) {
      expect(etag).toMatch(/^".+"$/);
      seen.push(data.length);
      if (seen.length === 1) await service().record(SAMPLE, appId);
      else
        for (const { keyId } of await service().metadata.listKeys(account))
          await service().metadata.revokeKey(keyId);
    }
  };
  await expect(read()).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
  expect(seen).toEqual([0, 2]);
});

test('live ends quietly when it is aborted', async () => {
  const controller = new AbortController();
  const { key, app: appId } = await service().newTenant();
  const answers = client(key).live('getDataBounds', { appId }, { signal: controller.signal });
  const seen: unknown[] = [];
  for await (const { data } of answers) {
    seen.push(data);
    controller.abort();
  }
  expect(seen).toEqual([{ oldest: null, newest: null }]);
});
