import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '../../../src/clickhouse/sql.ts';
import type { CreatedApp } from '../../../src/metadata/types.ts';
import { send } from '../../support/http.ts';
import { type ManagedService, managedService } from '../../support/management.ts';
import { tracesOf } from '../../support/traces.ts';

/*
 * Erases a visitor with the command, and searches the whole store for the visitor's id, its hash, and values that only the
 * visitor's sessions had.
 */

const HOUR = 3_600_000;
const DOMAIN = 'https://shop.example';
const REQUEST = {
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
  address: '127.0.0.1',
};

let service: ManagedService;
let app: CreatedApp;
let account: string;
let key: string;

beforeAll(async () => {
  service = await managedService();
  const { metadata } = service;
  const { accountId } = await metadata.createAccount({ name: 'Acme', plan: 'pro' });
  const { apiKey } = await metadata.createKey(accountId, { expiresAt: null });
  const principal = await metadata.authenticate(apiKey);
  if (principal === null) throw new Error('the key is unknown');
  app = await metadata.createApp(principal, { name: 'Shop', domain: DOMAIN });
  [account, key] = [accountId, apiKey];
});
afterAll(() => service.close());

const START = Date.now();
/** Sessions of a visitor whose texts begin with `word`. */
const sessionsOf = (word: string, ...hoursAgo: number[]) =>
  hoursAgo.map((hours) => {
    const startedAt = new Date(START - hours * HOUR);
    return {
      id: `${word}-session-${hours}`,
      visitorId: `${word}-visitor`,
      startedAt: startedAt.toISOString(),
      context: { utm: { source: `${word}-source` }, location: { country: 'IR', city: `${word}-city` } },
      events: [0, 1, 70].map((minutes) => ({
        type: 'pageview',
        timestamp: new Date(startedAt.getTime() + minutes * 60_000).toISOString(),
        path: `/${word}-path/${minutes}`,
      })),
    };
  });
const record = (sessions: readonly object[], batchId: string = randomUUID()) =>
  service.ingestion.accept({ id: app.id, domain: DOMAIN }, { batchId, sessions }, REQUEST);
const ask = (question: string, headers: Record<string, string> = {}) =>
  send(service.url, `/api/v1/sessions/${question}?appId=${app.id}`, { key, headers });
const bounds = async () => (await ask('data-bounds')).json;
const at = (hours: number, minutes = 0): string =>
  new Date(START - hours * HOUR + minutes * 60_000).toISOString();
const HASH = {
  name: 'hash',
  sql: sql`SELECT toString(reinterpretAsUInt128(sipHash128('gone-visitor'))) AS hash`,
  row: z.object({ hash: z.string() }),
};

test('a visitor is erased from every table, file and cache, and does not come back', {
  timeout: 0,
}, async () => {
  const { db, sealer, ingestion } = service;
  const batch = randomUUID();
  await record(sessionsOf('kept', 70, 49, 3));
  await record(sessionsOf('gone', 80, 50, 2), batch);
  await sealer.run();
  await record(sessionsOf('gone', 60));
  const aside = sessionsOf('gone', 1).concat(sessionsOf('kept', 1));
  const rows = aside.map(
    ({ visitorId }) => `"app_id":"${app.id}","visitor_id":"${visitorId}","offsets":[1,2,3]}`,
  );
  await db.insert('ingest_set_aside', [
    { id: app.id, app_id: app.id, batch_id: app.id, events: 6, code: 0, rows: rows.join('\n') },
  ]);
  const before = await ask('pageviews');
  expect(before.text).toContain('/gone-path/');
  expect(await bounds()).toEqual({ oldest: at(80), newest: at(2) });
  const { hash } = await db.queryOne(HASH);
  const words = ['gone-', hash];
  expect((await tracesOf(db, words)).map((where) => where.split(/[.:]/)[0])).toEqual(
    expect.arrayContaining([
      'events',
      'sessions',
      'page_facts',
      'visitor_sessions',
      'ingest_journal',
      'ingest_set_aside',
    ]),
  );

  const command = ['visitor', 'erase', '--app', app.id, '--visitor', 'gone-visitor'];
  const erased = { code: 0, stdout: `${JSON.stringify({ appId: app.id, erased: true })}\n` };
  expect(await service.admin(command)).toMatchObject(erased);
  expect(await tracesOf(db, words)).toEqual([]);
  expect(service.printed()).not.toContain('gone-');
  expect(await ingestion.setAside.list()).toMatchObject([{ events: 3 }]);

  // A tag of the time before is not confirmed.
  const tag = String(before.headers['etag']);
  const after = await ask('pageviews', { 'If-None-Match': tag });
  expect(after).toMatchObject({ status: 200 });
  expect(after.json).toEqual(
    [0, 1, 70].map((minutes) => ({ path: `/kept-path/${minutes}`, views: 3, uniqueSessions: 3 })),
  );
  expect((await ask('pageviews', { 'If-None-Match': String(after.headers['etag']) })).status).toBe(304);
  const stale = await ask('pageviews', { 'Cache-Control': 'max-stale=3600' });
  expect(stale.text).toBe(after.text);
  expect(await bounds()).toEqual({ oldest: at(70), newest: at(3) });

  // The same batch again stores nothing. Repeating the command changes nothing.
  expect(await record(sessionsOf('gone', 80, 50, 2), batch)).toMatchObject({ accepted: 0, duplicate: true });
  expect(await service.admin(command)).toMatchObject(erased);
  expect((await ask('pageviews')).text).toBe(after.text);
  await sealer.run();
  expect((await ask('pageviews')).text).toBe(after.text);

  // Later events belong to a new visitor.
  await record(sessionsOf('gone', 4));
  expect((await ask('overview/extended')).json).toMatchObject({
    session: { sessions: 4, visitors: 2, newVisitors: 2 },
  });

  const deeds = (await service.metadata.listAudit(null)).filter(({ action }) => action === 'visitor.erase');
  expect(deeds).toHaveLength(2);
  expect(deeds[0]).toMatchObject({
    accountId: account,
    actor: 'operator',
    subject: app.id,
    details: { domain: DOMAIN },
    outcome: 'done',
  });
});

test('a wrong visitor or app is refused with a message', async () => {
  const wrong = await service.admin(['visitor', 'erase', '--app', app.id, '--visitor', 'no id']);
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toContain('Must be 1 to 64 of A–Z a–z 0–9 . _ : -');
  const unknown = await service.admin(['visitor', 'erase', '--app', randomUUID(), '--visitor', 'v']);
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
});
