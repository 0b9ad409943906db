import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { dateTime64 } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { createJournal } from '../../src/ingestion/journal.ts';
import { onEachBackend } from '../support/backends.ts';
import { bridgeProcess } from '../support/bridge-process.ts';
import { serverStore } from '../support/store.ts';
import { setStoreClock } from '../support/store-clock.ts';
import { flushOf, ingestionOn, newApp, REQUEST, session, stored, totalsOf } from './ingestion-support.ts';

const DAY_MS = 86_400_000;

onEachBackend((on) => {
  afterEach(() => setStoreClock(on.db, 0));

  const started = async () => {
    const ingestion = ingestionOn(on.db);
    await ingestion.start();
    return ingestion;
  };

  test.each([-1, 1, 0])(
    "batches accepted after the store's clock was set by %i days are stored",
    async (days) => {
      const [app, ingestion] = [newApp(), await started()];
      await ingestion.accept(app, { batchId: randomUUID(), sessions: [session('a')] }, REQUEST);
      await setStoreClock(on.db, days);
      const batch = { batchId: randomUUID(), sessions: [session('b')] };
      expect(await ingestion.accept(app, batch, REQUEST)).toEqual({ accepted: 3, rejected: [] });
      await ingestion.drain();
      expect(await totalsOf(on.db, app.id)).toEqual(stored(2, 6));
      const next = await started();
      expect(await next.accept(app, batch, REQUEST)).toMatchObject({ duplicate: true });
      expect(await totalsOf(on.db, app.id)).toEqual(stored(2, 6));
    },
  );

  test.each([-1, 1])(
    'a flush that a crash left is completed, with the clock %i days off since',
    async (days) => {
      const [app, batchId, journal] = [newApp(), randomUUID(), createJournal(on.db)];
      await setStoreClock(on.db, days);
      const flush = flushOf(app, batchId);
      await journal.claim(flush, on.db.engine === 'embedded');
      await setStoreClock(on.db, 0);
      const ingestion = await started();
      if (on.db.engine === 'embedded') expect(await totalsOf(on.db, app.id)).toEqual(stored(1, 12));
      // On a server its owner may be alive, so it is not completed here; the owner goes on.
      else {
        expect(await journal.decide(flush.id, 'store')).toBe('store');
        await journal.begin(flush.id);
        await journal.insertEvents(flush.id);
        await journal.commit(flush.id, flush.hours);
        await journal.markStored([flush.id]);
      }
      const again = await ingestion.accept(app, { batchId, sessions: [session('s', 12)] }, REQUEST);
      expect(again.duplicate).toBe(true);
      expect(await totalsOf(on.db, app.id)).toEqual(stored(1, 12));
    },
  );

  test('a batch id is remembered for 7 days, although the clock was set forward by one', async () => {
    const [app, batchId] = [newApp(), randomUUID()];
    const at = Date.now() - 8 * DAY_MS + 60_000;
    await on.db.insert('ingest_batches', [
      { app_id: app.id, batch_id: batchId, flush_id: randomUUID(), inserted_at: dateTime64(at) },
    ]);
    await on.db.command('merge', sql`OPTIMIZE TABLE ingest_batches FINAL`);
    const again = await (await started()).accept(app, { batchId, sessions: [session('a')] }, REQUEST);
    expect(again).toMatchObject({ duplicate: true });
  });

  test('settled flushes leave the journal at any clock, and open ones stay', async () => {
    const [app, journal] = [newApp(), createJournal(on.db)];
    await setStoreClock(on.db, 1);
    const [done, abandoned, open] = [0, 1, 2].map(() => flushOf(app, randomUUID()));
    if (done === undefined || abandoned === undefined || open === undefined) throw new Error('three');
    for (const flush of [done, abandoned, open]) await journal.claim(flush, false);
    await journal.decide(done.id, 'store');
    await journal.begin(done.id);
    await journal.insertEvents(done.id);
    await journal.commit(done.id, done.hours);
    await journal.markStored([done.id]);
    await journal.decide(abandoned.id, 'abandon');
    await setStoreClock(on.db, -1);
    await journal.forget();
    await expect
      .poll(() => Promise.all([done, abandoned, open].map(({ id }) => journal.isWritten(id))))
      .toEqual([false, false, true]);
    expect((await journal.open()).map(({ id }) => id)).toContain(open.id);
    // Its owner wakes up, and proposes to store an abandoned flush.
    expect(await journal.decide(abandoned.id, 'store')).toBe('abandon');
  });
});

test.each([-1, 1])(
  'a batch that another process has claimed with the clock set by %i days is stored once',
  async (days) => {
    const bridge = await bridgeProcess();
    const store = await serverStore(bridge);
    try {
      const [app, batchId, journal] = [newApp(), randomUUID(), createJournal(store.db)];
      const other = ingestionOn(store.db);
      await other.start();
      await setStoreClock(store.db, days);
      const flush = flushOf(app, batchId);
      await journal.claim(flush, false);
      expect(await journal.claims(flush.id)).toEqual([]);
      expect(await journal.decide(flush.id, 'store')).toBe('store');
      await setStoreClock(store.db, 0);
      const sending = other.accept(app, { batchId, sessions: [session('s', 12)] }, REQUEST);
      await journal.begin(flush.id);
      await journal.insertEvents(flush.id);
      await journal.commit(flush.id, flush.hours);
      await journal.markStored([flush.id]);
      expect(await sending).toMatchObject({ duplicate: true });
      expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 12));
      await other.drain();
    } finally {
      await store.close();
      await bridge.close();
    }
  },
);
