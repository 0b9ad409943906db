import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { dateTime64 } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { accountId, appId } from '../../src/domain/ids.ts';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createErasures } from '../../src/erasure/erasures.ts';
import { seal } from '../../src/facts/pass.ts';
import { exported } from '../../src/transfer/export.ts';
import { onOneBackend } from '../support/backends.ts';
import { byChance } from '../support/chance.ts';
import { Dead, dying, ErasedStory } from '../support/erasure.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { REQUEST } from './ingestion-support.ts';

const HOUR = 3_600_000;

const ERASURES = {
  name: 'erasures of an app',
  sql: sql`SELECT toString(erasure_id) AS id FROM erasures WHERE app_id = {app:UUID}`,
  row: z.object({ id: z.string() }),
};

// `npm run test:long` stops an erasure at each of its writes.
onOneBackend((on) => {
  let subject: Awaited<ReturnType<typeof subjectOn>>;
  beforeAll(async () => {
    subject = await subjectOn(on.db);
  });

  test('after an erasure every answer is that of a store without the visitor', { timeout: 0 }, async () => {
    const story = new ErasedStory(on.db, subject, { sessions: 30, probes: 1 });
    await story.send(0.7);
    await story.seal(3, false);
    // Some of these come late.
    await story.send(1);
    const visitor = story.busiest();
    const before = story.of(visitor);
    // The process dies, and another one goes on.
    const last = byChance(40);
    const killed = story.erasures(dying(on.db, last)).erase(story.app.id, visitor);
    const isDead = await killed.then(
      () => false,
      (error: unknown) => error instanceof Dead,
    );
    expect(isDead).toBe(true);
    await story.erasures().erase(story.app.id, visitor);
    story.without(visitor);
    await story.compare();
    await story.expectGone(visitor);
    // Another process drops what it keeps of the app at its next look.
    const forgotten: string[] = [];
    await story.erasures(on.db, (app) => forgotten.push(app)).resume();
    expect(forgotten).toContain(story.app.id);
    // An export would hold a part of the visitor's events.
    const row = { app_id: story.app.id, erasure_id: randomUUID(), ended: 0 };
    await on.db.insert('erasures', [row], { about: [story.app.id] });
    const app = {
      ...story.app,
      account: accountId(randomUUID()),
      name: 'Shop',
      createdAt: epochMs(0),
      secrets: [],
    };
    const archive = exported({ db: on.db, ingestion: subject.ingestion }, app);
    await expect(archive.next()).rejects.toThrow('A visitor of this app is being erased.');
    await on.db.insert('erasures', [{ ...row, ended: 1 }], { about: [story.app.id] });
    // A visitor who comes again is new.
    await story.deliver(before);
    await story.seal(40, true);
    await story.compare();
  });

  test('a session that also names another visitor leaves nothing behind at the next session of that one', async () => {
    const app = { id: appId(randomUUID()), domain: KNOWN_DOMAIN };
    const from = Date.UTC(2022, 2, 18);
    const at = (ms: number) => new Date(from + ms).toISOString();
    const visit = (id: string, visitorId: string, startedAt: number, path: string) => ({
      id,
      visitorId,
      startedAt: at(startedAt),
      context: {},
      events: [{ type: 'pageview', timestamp: at(startedAt + 1), path }],
    });
    const accept = (session: object) =>
      subject.ingestion.accept(app, { batchId: randomUUID(), sessions: [session] }, REQUEST);
    const { id } = app;
    // Signed in after its first page.
    await accept(visit('s', 'anonymous', 0, '/'));
    await accept(visit('s', 'v', 0, '/account'));
    await accept(visit('t', 'anonymous', 5 * HOUR, '/'));
    await seal({ db: on.db, only: [id] }, epochMs(from + 3 * 24 * HOUR));
    const kpis = async () => {
      const day = { from: epochMs(from), to: epochMs(from + 24 * HOUR - 1) };
      const { current } = await subject.analytics.kpis(id, day);
      return [current.sessions, current.visitors, current.pageviews];
    };
    expect(await kpis()).toEqual([2, 1, 3]);
    const deps = { db: on.db, locks: inProcessLocks(), ingestion: subject.ingestion };
    const clock = () => epochMs(from + 3 * 24 * HOUR);
    await createErasures({ ...deps, clock, forget: () => undefined }).erase(id, 'v');
    expect(await kpis()).toEqual([1, 1, 1]);
    await seal({ db: on.db, only: [id] }, clock());
    expect(await kpis()).toEqual([1, 1, 1]);
  });

  test('is refused while events of the app are from the future of the store', async () => {
    const app = appId(randomUUID());
    const tomorrow = dateTime64(Date.now() + 86_400_000);
    await on.db.insert('ledger', [
      { app_id: app, kind: 'event', hour: 1_763_600_400, events: 1, last_insert: tomorrow },
    ]);
    const story = new ErasedStory(on.db, subject, { sessions: 1, probes: 0 });
    await expect(story.erasures().erase(app, 'v0')).rejects.toMatchObject({ code: 'overloaded' });
    expect(await on.db.query(ERASURES, { app })).toEqual([]);
  });
});
