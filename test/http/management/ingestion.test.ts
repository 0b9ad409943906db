import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { identifier, sql } from '../../../src/clickhouse/sql.ts';
import { removeFolder } from '../../../src/remove-folder.ts';
import { adminOf } from '../../support/admin.ts';
import { mmdb } from '../../support/mmdb.ts';
import { batchFor, post, visit } from '../sdk-events/support.ts';
import { type TestService, testService } from '../support.ts';

const SECRET = 'a secret of at least 32 characters';
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-geo-'));
  const database = join(folder, 'city.mmdb');
  const place = { country_code: 'IR', city: 'Tehran', latitude: 35.7, longitude: 51.4 };
  writeFileSync(database, mmdb({ '127.0.0.0/8': place }));
  service = await testService({ env: { MANAGEMENT_JWT_SECRET: SECRET, GEOIP_DATABASE: database } });
});
afterAll(async () => {
  await service.close();
  removeFolder(folder);
});

const admin = (...args: string[]): Promise<unknown> => {
  const { port } = new URL(service.managementUrl);
  return adminOf({ MANAGEMENT_PORT: port, MANAGEMENT_JWT_SECRET: SECRET })(...args);
};

test('accepted and rejected parts are counted by reason', async () => {
  const good = visit('a');
  const sessions = [
    {
      ...good,
      events: [...good.events, { type: 'scroll' }, { ...good.events[0], timestamp: '2001-01-01T00:00:00Z' }],
    },
    { ...visit('b'), context: { userAgent: BOT } },
    { ...visit('c'), context: { userAgent: BOT } },
    { id: 'no visitor, no start' },
  ];
  const batch = batchFor(service, { sessions });
  for (let i = 0; i < 3; i++) expect((await post(service, batch)).status).toBe(200);
  expect(await admin('ingestion', 'status')).toEqual({
    since: expect.stringMatching(/^\d{4}-.*Z$/),
    acceptedEvents: 1,
    duplicateBatches: 2,
    rejected: { invalid_event: 1, timestamp_too_old: 1, bot: 2, invalid_session: 1 },
    refused: {},
    held: 0,
    waiting: { batches: 0, events: 0, bytes: 0 },
  });
});

test('a session without a place gets the one of its address, and the address is not stored', async () => {
  const elsewhere = { country: 'DE', city: 'Berlin', latitude: 52.5, longitude: 13.4 };
  const sessions = [visit('here'), { ...visit('there'), context: { location: elsewhere } }];
  await post(service, batchFor(service, { sessions }));
  const { json } = await service.ask(`/api/v1/sessions/locations/all?appId=${service.app}`);
  expect(json).toEqual([
    { country: 'IR', region: null, city: 'Tehran', latitude: 35.7, longitude: 51.4, count: 2 },
    { country: 'DE', region: null, city: 'Berlin', latitude: 52.5, longitude: 13.4, count: 1 },
  ]);
  for (const table of ['events', 'sessions', 'ingest_journal', 'ingest_batches']) {
    const statement = sql`SELECT toUInt32(count()) AS rows FROM ${identifier(table)} WHERE position(toString(tuple(*)), '127.0.0.1') > 0`;
    const row = z.object({ rows: z.number() });
    const query = { name: 'rows with an address', sql: statement, row };
    expect(await service.db.query(query, {}, { everyShard: true })).toEqual([{ rows: 0 }]);
  }
});

test('the sender of a batch that the store refuses gets 400, and the operator lists, repeats or drops it', async () => {
  const table = service.db.shards.stored('events');
  const check = sql`ALTER TABLE ${table} ADD CONSTRAINT poison CHECK session_id NOT LIKE 'poison%'`;
  await service.db.command('refuse', check);
  const batches = ['poison 1', 'poison 2'].map((id) => {
    const [session] = [visit(id.replace(' ', '-'))];
    return batchFor(service, { sessions: [session] });
  });
  for (const batch of batches) {
    const answer = await post(service, batch);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'validation_failed' });
  }
  const Listed = z.array(
    z.object({ id: z.string(), appId: z.string(), events: z.number(), code: z.number() }),
  );
  const listed = Listed.parse(await admin('set-aside', 'list'));
  expect(listed).toMatchObject(Array(2).fill({ appId: service.app, events: 1, code: 469 }));
  const [one, two] = listed.map(({ id }) => id);
  await expect(admin('set-aside', 'repeat', '--id', one ?? '')).rejects.toThrow();
  await service.db.command('mend', sql`ALTER TABLE ${table} DROP CONSTRAINT poison`);
  expect(await admin('set-aside', 'repeat', '--id', one ?? '')).toEqual({ id: one, outcome: 'stored' });
  expect(await admin('set-aside', 'drop', '--yes', '--id', two ?? '')).toEqual({ id: two, dropped: true });
  expect(await admin('set-aside', 'list')).toEqual([]);
  await expect(admin('set-aside', 'drop', '--yes', '--id', two ?? '')).rejects.toThrow(
    'No batch is put aside',
  );
});
