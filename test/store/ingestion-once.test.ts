import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { AppError } from '../../src/domain/errors.ts';
import { createJournal } from '../../src/ingestion/journal.ts';
import { bridgeProcess } from '../support/bridge-process.ts';
import { deferred } from '../support/deferred.ts';
import { replaced } from '../support/replaced.ts';
import { serverStore, type TestStore, testStore } from '../support/store.ts';
import {
  afterLease,
  flushOf,
  ingestionOn,
  newApp,
  REQUEST,
  sentUntilTaken,
  session,
  stored,
  totalsOf,
} from './ingestion-support.ts';

const BACKENDS = [
  {
    name: 'the embedded engine',
    open: async () => ({ store: await testStore(), stop: async () => undefined }),
  },
  {
    name: 'the HTTP bridge',
    open: async () => {
      const bridge = await bridgeProcess();
      return { store: await serverStore(bridge), stop: bridge.close };
    },
  },
];

describe.each(BACKENDS)('a batch is stored once on $name', ({ open }) => {
  let store: TestStore;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    ({ store, stop } = await open());
  });
  afterAll(async () => {
    await store.close();
    await stop();
  });

  test('or given up: then nothing of it is begun or left', async () => {
    const [app, journal] = [newApp(), createJournal(store.db)];
    const begun = async (): Promise<number> => {
      const statement = sql`SELECT toInt64(sum(abs(events))) AS begun FROM ingest_begun FINAL WHERE app_id = {app:UUID}`;
      const row = z.object({ begun: z.number() });
      return (await store.db.queryOne({ name: 'begun', sql: statement, row }, { app: app.id })).begun;
    };
    const flush = flushOf(app, randomUUID());
    await journal.claim(flush, false);
    // A process that is alone on its store need not announce it.
    if (store.db.engine === 'server') {
      for (let time = 0; time < 2; time++) await journal.begin(flush.id);
      expect(await begun()).toBe(24);
    }
    for (let time = 0; time < 2; time++) await journal.withdraw(flush.id);
    expect(await begun()).toBe(0);
    expect(await totalsOf(store.db, app.id)).toEqual(stored(0, 0));
    expect(await journal.open()).toEqual([]);
  });

  test('by parallel retries to one process', async () => {
    const [app, ingestion] = [newApp(), ingestionOn(store.db)];
    const batches = Array.from({ length: 30 }, (_, i) => ({
      batchId: randomUUID(),
      sessions: [session(`s${i}`)],
    }));
    const answers = await Promise.all(
      [...batches, ...batches, ...batches].map((batch) => ingestion.accept(app, batch, REQUEST)),
    );
    expect(answers.filter(({ duplicate }) => !duplicate).map(({ accepted }) => accepted)).toEqual(
      Array(30).fill(3),
    );
    expect(answers.filter(({ duplicate }) => duplicate)).toEqual(
      Array(60).fill({ accepted: 0, rejected: [], duplicate: true }),
    );
    expect(await totalsOf(store.db, app.id)).toEqual(stored(30, 90));
  });

  test('by another process later, whatever its content, with the id in either case', async () => {
    const [app, batchId] = [newApp(), randomUUID()];
    const before = ingestionOn(store.db);
    const first = await before.accept(app, { batchId, sessions: [session('a')] }, REQUEST);
    expect(first).toEqual({ accepted: 3, rejected: [] });
    await before.drain();
    const other = { batchId: batchId.toUpperCase(), sessions: [session('b'), 'nonsense'] };
    expect(await ingestionOn(store.db).accept(app, other, REQUEST)).toEqual({
      accepted: 0,
      rejected: [],
      duplicate: true,
    });
    expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 3));
  });

  test('per app: an id of one app says nothing about another', async () => {
    const [batchId, ingestion, apps] = [randomUUID(), ingestionOn(store.db), [newApp(), newApp()]];
    for (const app of apps) {
      const answer = await ingestion.accept(app, { batchId, sessions: [session('a')] }, REQUEST);
      expect(answer.accepted).toBe(3);
      expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 3));
    }
  });

  test('and a batch without accepted events is remembered too', async () => {
    const [app, batchId] = [newApp(), randomUUID()];
    const before = ingestionOn(store.db);
    const empty = await before.accept(app, { batchId, sessions: [{}] }, REQUEST);
    await before.drain();
    expect(empty).toMatchObject({
      accepted: 0,
      rejected: [{ session: 0, event: null, code: 'invalid_session' }],
    });
    const again = await ingestionOn(store.db).accept(app, { batchId, sessions: [session('a')] }, REQUEST);
    expect(again.duplicate).toBe(true);
    expect(await totalsOf(store.db, app.id)).toEqual(stored(0, 0));
  });

  test('and equal events under different ids both count', async () => {
    const [app, ingestion] = [newApp(), ingestionOn(store.db)];
    for (let i = 0; i < 2; i++) {
      await ingestion.accept(app, { batchId: randomUUID(), sessions: [session('a')] }, REQUEST);
    }
    expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 6));
  });
});

test('an import that lost its turn before it claimed its events stores nothing', async () => {
  const bridge = await bridgeProcess();
  const store = await serverStore(bridge);
  try {
    const app = newApp();
    const goesOn = deferred();
    const stopping = replaced(store.db, {
      insertText: async (table, ...more) => {
        if (table === 'ingest_journal') await goesOn.promise;
        return store.db.insertText(table, ...more);
      },
    });
    let isLost = false;
    const assertHeld = async () => {
      if (isLost) throw new AppError('store_unavailable', 'lost');
    };
    const first = ingestionOn(stopping, undefined, { withLock: (_name, work) => work(assertHeld) });
    const sendTo = (id: string) =>
      first.accept(app, { batchId: randomUUID(), sessions: [session(id)] }, REQUEST);
    const wait = (batches: number) =>
      vi.waitFor(() => expect(first.stats().waiting.batches).toBe(batches), 10_000);
    // The import has counted what is there, and waits with another batch for its flush.
    const sent = [sendTo('x')];
    await wait(1);
    const sessions = [session('a', 5)];
    const slow = first.importHistory(app, sessions);
    await wait(2);
    sent.push(sendTo('y'));
    await wait(3);
    isLost = true;
    const second = await ingestionOn(store.db).importHistory(app, [...sessions, session('b', 5)]);
    expect(second).toMatchObject({ events: 10, duplicates: 0 });
    goesOn.resolve();
    await expect(slow).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await Promise.all(sent)).toEqual(Array(2).fill({ accepted: 3, rejected: [] }));
    expect(await totalsOf(store.db, app.id)).toEqual(stored(4, 16));
    isLost = false;
    expect(await first.importHistory(app, sessions)).toMatchObject({ events: 0, duplicates: 5 });
  } finally {
    await store.close();
    await bridge.close();
  }
});

test('a batch that several processes receive at once is stored once', async () => {
  const bridge = await bridgeProcess();
  const store = await serverStore(bridge);
  try {
    const [app, processes] = [
      newApp(),
      [ingestionOn(store.db), ingestionOn(store.db), ingestionOn(store.db)],
    ];
    let [accepted, repeated] = [0, 0];
    for (let round = 0; round < 5; round++) {
      const batches = Array.from({ length: 4 }, (_, i) => ({
        batchId: randomUUID(),
        sessions: [session(`r${round}-${i}`)],
      }));
      const answers = await Promise.all(
        processes.flatMap((ingestion) =>
          batches.map((batch) => sentUntilTaken(ingestion, app, batch, () => repeated++)),
        ),
      );
      accepted += answers.reduce((sum, answer) => sum + answer.accepted, 0);
    }
    // On a busy machine an answer may come too late. The batch is repeated then, and is a duplicate.
    if (repeated === 0) expect(accepted).toBe(60);
    expect(accepted).toBeLessThanOrEqual(60);
    expect(await totalsOf(store.db, app.id)).toEqual(stored(20, 60));
  } finally {
    await store.close();
    await bridge.close();
  }
});

test('a flush that a dead process left on a server is completed by another process without traffic', async () => {
  const bridge = await bridgeProcess();
  const store = await serverStore(bridge);
  const ingestion = ingestionOn(store.db);
  try {
    const [app, batchId, journal] = [newApp(), randomUUID(), createJournal(store.db)];
    const flush = flushOf(app, batchId);
    await journal.claim(flush, false);
    await journal.decide(flush.id, 'store');
    await journal.begin(flush.id);
    await ingestion.start();
    await ingestion.sweep();
    // Its owner may be alive.
    expect(await totalsOf(store.db, app.id)).toEqual(stored(0, 0));
    await afterLease(() => ingestion.sweep());
    expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 12));
  } finally {
    await ingestion.drain();
    await store.close();
    await bridge.close();
  }
});

describe('a process that died', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
  });
  afterAll(() => store.close());

  const restart = async () => {
    const ingestion = ingestionOn(store.db);
    await ingestion.start();
    // On a server, the owner of a flush may be alive until its lease has ended.
    if (store.db.engine === 'server') await afterLease(() => ingestion.sweep());
    return ingestion;
  };

  test('before its verdict: nothing is stored, and the sender repeats the batch', async () => {
    const [app, batchId, journal] = [newApp(), randomUUID(), createJournal(store.db)];
    await journal.claim(flushOf(app, batchId), false);
    const ingestion = await restart();
    expect(await totalsOf(store.db, app.id)).toEqual(stored(0, 0));
    const answer = await ingestion.accept(app, { batchId, sessions: [session('s', 12)] }, REQUEST);
    expect(answer).toEqual({ accepted: 12, rejected: [] });
    expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 12));
  });

  test.each(['the verdict', 'the raw rows without views', 'the events', 'the commit'])(
    'after %s: completed at the next start',
    async (step) => {
      const [app, batchId, journal] = [newApp(), randomUUID(), createJournal(store.db)];
      const flush = flushOf(app, batchId);
      await journal.claim(flush, false);
      expect(await journal.decide(flush.id, 'store')).toBe('store');
      if (step === 'the events' || step === 'the commit') await journal.insertEvents(flush.id);
      if (step === 'the commit') await journal.commit(flush.id, flush.hours);
      if (step === 'the raw rows without views') await withoutViews(() => journal.insertEvents(flush.id));
      const ingestion = await restart();
      expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 12));
      const again = await ingestion.accept(app, { batchId, sessions: [session('s', 12)] }, REQUEST);
      expect(again.duplicate).toBe(true);
      await restart();
      expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 12));
    },
  );

  test.each([
    'before the events',
    'after the raw rows without views',
    'after the events',
    'after the commit',
  ])('that was alone on its store, %s: completed at the next start', async (step) => {
    const [app, batchId, journal] = [newApp(), randomUUID(), createJournal(store.db)];
    const flush = flushOf(app, batchId);
    await journal.claim(flush, true);
    const insert = () => journal.insertEvents(flush.id);
    if (step === 'after the events' || step === 'after the commit') await insert();
    if (step === 'after the commit') await journal.commit(flush.id, flush.hours);
    if (step === 'after the raw rows without views') await withoutViews(insert);
    const ingestion = await restart();
    const again = await ingestion.accept(app, { batchId, sessions: [session('s', 12)] }, REQUEST);
    expect(again.duplicate).toBe(true);
    await restart();
    expect(await totalsOf(store.db, app.id)).toEqual(stored(1, 12));
  });

  /** Leaves raw rows without their view rows, as a kill between the two would. */
  async function withoutViews(work: () => Promise<void>): Promise<void> {
    const views = ['sessions_from_events', 'traffic_from_events'].map((view) =>
      store.db.shards.database === null
        ? identifier(view)
        : sql`${identifier(store.db.shards.database)}.${identifier(view)}`,
    );
    for (const view of views) await store.db.command('detach', sql`DETACH TABLE ${view}`);
    await work();
    for (const view of views) await store.db.command('attach', sql`ATTACH TABLE ${view}`);
  }
});
