import { randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SdkApp } from '../../src/metadata/types.ts';
import { type TestService, testService } from '../http/support.ts';
import { tracesOf } from '../support/traces.ts';

/*
 * Deletes an app and searches the whole store for its id, its domain, and values that only its events had.
 */

const NOW = '2026-11-20T12:00:00Z';
const HOUR = 3_600_000;
const BEFORE = (hours: number): Date => new Date(Date.parse(NOW) - hours * HOUR);

let service: TestService;

beforeAll(async () => {
  service = await testService({ now: NOW });
});
afterAll(() => service.close());

/** Sessions whose texts begin with `word`. Together they have a list of paths that is kept in a file. */
const sessionsOf = (word: string) =>
  [80, 50, 49, 2].map((hours) => ({
    id: `${word}-session-${hours}`,
    visitorId: `${word}-visitor-${hours % 2}`,
    startedAt: BEFORE(hours),
    context: { utm: { source: `${word}-source` }, location: { country: 'IR', city: `${word}-city` } },
    events: Array.from({ length: 250 }, (_, i) => ({
      type: 'pageview' as const,
      timestamp: new Date(BEFORE(hours).getTime() + i),
      path: `/${word}-path/${hours}/${i}/${'x'.repeat(300)}`,
    })),
  }));

const record = (app: SdkApp, sessions: readonly object[]) =>
  service.ingestion.accept(
    app,
    { batchId: randomUUID(), sessions: JSON.parse(JSON.stringify(sessions)) },
    {
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
      address: '127.0.0.1',
    },
  );

const listOf = (app: string) => service.ask(`/api/v1/sessions/pageviews?appId=${app}&limit=10000`);

/** The number of answers that this process keeps in files. */
const filesOfAnswers = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return /\/answers\/[^/]+ \(deleted\)$/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;

test('nothing of a deleted app is left but that it was deleted', async () => {
  const { db, metadata, ingestion, sealer } = service;
  const principal = await metadata.authenticate(service.key);
  if (principal === null) throw new Error('the key is unknown');
  const doomed = await metadata.createApp(principal, {
    name: 'Doomed',
    domain: 'https://doomed-host.example',
  });
  await record({ id: service.app, domain: 'https://shop.example' }, sessionsOf('kept'));
  await record(doomed, sessionsOf('doomed').slice(0, 3));
  await sealer.run();
  // Late events are repaired, which marks rows of facts as deleted; the last session is not sealed.
  await record(doomed, sessionsOf('doomed').slice(1));
  await sealer.rebuild([doomed.id]);
  await sealer.run();
  await db.insert('ingest_set_aside', [
    { id: doomed.id, app_id: doomed.id, batch_id: doomed.id, events: 1, code: 0, rows: '"doomed-row"' },
  ]);
  for (const app of [service.app, doomed.id]) expect((await listOf(app)).status).toBe(200);
  const before = (await listOf(service.app)).text;
  expect(filesOfAnswers()).toBe(2);
  const words = [doomed.id, 'doomed-'];
  const found = (await tracesOf(db, words)).map((where) => where.split(/[.:]/)[0]);
  expect(found).toEqual(
    expect.arrayContaining([
      'apps',
      'events',
      'sessions',
      'page_facts',
      'ingest_journal',
      'ingest_set_aside',
    ]),
  );

  await metadata.deleteApp(doomed.id);
  await ingestion.sweep();
  // The id is also in the engine's notes of the last deletions that sealing ordered.
  const left = (await tracesOf(db, [doomed.id])).filter((where) => !/: mutation_\d+\.txt$/.test(where));
  expect(left).toEqual(['audit_log.subject', 'deleted_apps.app_id']);
  expect(await tracesOf(db, ['doomed-'])).toEqual(['audit_log.details']);
  expect(filesOfAnswers()).toBe(1);
  expect((await listOf(service.app)).text).toBe(before);
  expect((await listOf(doomed.id)).status).toBe(403);
  const deeds = await metadata.listAudit(principal.accountId);
  expect(deeds).toContainEqual(
    expect.objectContaining({ action: 'app.delete', subject: doomed.id, outcome: 'done' }),
  );
});
