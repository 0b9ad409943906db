import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { type Database, dateTime64, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { onBehalfOf } from '../../src/domain/caller.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs, HOUR_MS, toIso } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { unseal } from '../../src/facts/unseal.ts';
import { createCommitted } from '../../src/ingestion/committed.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { replaced } from '../support/replaced.ts';
import { ingestionOn, NOW, newApp, REQUEST } from './ingestion-support.ts';

// On the embedded engine, whatever the tests' store: only there is a process alone.
const place = embeddedPlace();
const statements: string[] = [];
let db: Database;

beforeAll(async () => {
  db = await openDatabase(place.location, { onStatement: ({ name }) => statements.push(name) });
  await migrate(db);
});
afterAll(async () => {
  await db.command(
    'drop test database',
    sql`DROP DATABASE IF EXISTS ${identifier(place.location.database)} SYNC`,
  );
  await db.close();
  place.remove();
});

const commit = (app: string, events: number): Promise<void> =>
  db.insert('ledger', [{ app_id: app, kind: 'event', hour: 1_763_600_400, events }]);

test('one statement for all apps, and none while nothing is written', async () => {
  const read = createCommitted(db);
  const [one, two, empty] = [appId(randomUUID()), appId(randomUUID()), appId(randomUUID())];
  await commit(one, 3);
  await commit(two, 4);
  await commit(one, 5);
  statements.length = 0;
  const expected = new Map([
    [one, 8],
    [two, 4],
  ]);
  expect(await read([one, two, empty])).toEqual(expected);
  expect(await read([two, one])).toEqual(expected);
  expect(statements).toEqual(['committed events of apps']);
  await commit(two, 1);
  expect((await read([one, two])).get(two)).toBe(5);
  const third = appId(randomUUID());
  expect((await read([one, two, third])).get(third)).toBeUndefined();
  expect(statements.filter((name) => name !== 'insert ledger')).toHaveLength(3);
});

test('one statement for all ranges of an app that are asked for again, after each write', async () => {
  const app = appId(randomUUID());
  const read = createSnapshots(db);
  const HOUR = 1_763_600_400_000;
  const range = (from: number) => ({ from: epochMs(HOUR + from), to: epochMs(HOUR + 3_599_999) });
  const scopes = [
    { events: null, sessions: null },
    { events: range(0), sessions: null },
    { events: range(-7_200_000), sessions: range(0) },
    { events: range(3_600_000), sessions: null },
  ];
  const versions = async (of = read) => {
    const snapshots = await Promise.all(scopes.map((scope) => of(app, scope)));
    return snapshots.map(({ version, asOf }) => ({ version, isKnown: asOf !== null }));
  };
  for (let writes = 1; writes <= 5; writes++) {
    await commit(app, 2);
    statements.length = 0;
    const answers = await versions();
    // Ranges are known after they were asked for twice. Each of the first questions also reads the state.
    expect(statements.length).toBe([2 * scopes.length, scopes.length][writes - 1] ?? 1);
    expect(await versions()).toEqual(answers);
    expect(answers).toEqual(await versions(createSnapshots(db)));
    expect(answers.map(({ version }) => version[0])).toEqual([0, 2 * writes, 2 * writes, 0]);
  }
});

/** An app with two events, eight hours apart. */
async function visitedApp() {
  const app = newApp();
  const first = NOW - 100 * HOUR_MS;
  const sessions = [first, first + 8 * HOUR_MS].map((at, i) => ({
    id: `s${i}`,
    visitorId: 'v',
    startedAt: toIso(epochMs(at)),
    events: [{ type: 'pageview', timestamp: toIso(epochMs(at)), path: '/' }],
  }));
  await ingestionOn(db).accept(app, { batchId: randomUUID(), sessions }, REQUEST);
  const sealAt = (hours: number) => seal({ db, only: [app.id] }, epochMs(first + hours * HOUR_MS));
  return { app, sealAt };
}

test('sealing a further hour leaves snapshots as they are for ten minutes at most', async () => {
  const { app, sealAt } = await visitedApp();
  let now = 0;
  const read = createSnapshots(db, () => now);
  await sealAt(8);
  const before = await read(app.id);
  const watermark = before.published.page.until;
  // This hour is the second event's.
  await sealAt(11);
  statements.length = 0;
  expect(await read(app.id)).toBe(before);
  expect(statements).toEqual([]);
  const latest = await createSnapshots(db)(app.id);
  expect(latest.published.page.until).toBeGreaterThan(watermark);
  expect(latest).toMatchObject({ version: before.version, era: before.era, rebuilt: before.rebuilt });

  now += 600_000;
  expect(await read(app.id)).toEqual(latest);
  // Sealing many hours at once makes questions faster, so it is seen at once.
  await unseal({ db, only: [app.id] }, NOW);
  expect((await read(app.id)).published.page.until).toBe(0);
  await sealAt(99);
  expect(await read(app.id)).toEqual(await createSnapshots(db)(app.id));

  // The first question about an app reads the state before the numbers that depend on it, and nothing twice.
  statements.length = 0;
  await createSnapshots(db)(app.id);
  expect(statements).toEqual(['snapshot, state', 'snapshot, numbers']);
});

test('a state that changes before the rest is counted is read again', async () => {
  const {
    app: { id: app },
    sealAt,
  } = await visitedApp();
  await sealAt(99);
  const before = await createSnapshots(db)(app);
  expect(before.published.page.until).toBeGreaterThan(0);
  const changing = replaced(db, {
    rows: async (query, ...others) => {
      const rows = await db.rows(query, ...others);
      if (query.name === 'snapshot, state') await unseal({ db, only: [app] }, NOW);
      return rows;
    },
  });
  statements.length = 0;
  const snapshot = await createSnapshots(changing)(app);
  expect(statements.filter((name) => name.startsWith('snapshot'))).toEqual([
    'snapshot, state',
    'snapshot, numbers',
    'snapshot, numbers',
  ]);
  expect(snapshot.published.page.until).toBe(0);
  expect(snapshot).toEqual(await createSnapshots(db)(app));
});

test('after anything is written about an app, its snapshot is read by one statement, and otherwise not at all', async () => {
  const app = appId(randomUUID());
  const read = createSnapshots(db);
  const readFor = async (): Promise<string[]> => {
    statements.length = 0;
    const snapshot = await read(app);
    const names = statements.filter((name) => name.startsWith('snapshot'));
    expect(snapshot).toEqual(await createSnapshots(db)(app));
    return names;
  };
  await commit(app, 1);
  expect(await readFor()).toEqual(['snapshot, state', 'snapshot, numbers']);
  await commit(app, 1);
  expect(await readFor()).toEqual(['snapshot, numbers']);
  expect(await readFor()).toEqual([]);
  await db.insert('kept_sessions', [{ app_id: app, kept_from: 1_000 }], { about: [app] });
  expect(await readFor()).toEqual(['snapshot, numbers']);
  expect(await readFor()).toEqual([]);
});

test('an app whose events were all taken out of the ledger has no bounds', async () => {
  const app = appId(randomUUID());
  const read = createSnapshots(db);
  const count = (events: number | string): Promise<void> =>
    db.insert(
      'ledger',
      ['event', 'session'].map((kind) => ({
        app_id: app,
        kind,
        hour: 1_763_600_400,
        events,
        oldest: dateTime64(1_763_600_400_000),
        newest: dateTime64(1_763_600_400_000),
      })),
    );
  await count(2);
  const at = epochMs(1_763_600_400_000);
  expect(await read(app)).toMatchObject({ starts: { from: at, to: at }, extent: { from: at, to: at } });
  // Minus 2: sums wrap.
  await count('18446744073709551614');
  expect(await read(app)).toMatchObject({ sessionEvents: 0, starts: null, extent: null });
});

/** Lets the engine of JavaScript drop what nobody holds. */
const collectGarbage = async (): Promise<void> => {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  if (typeof gc !== 'function') throw new Error('no gc');
  for (let i = 0; i < 5; i++) {
    await setImmediate();
    gc();
  }
};

test('what is cached holds on to no request', async () => {
  const snapshots = createSnapshots(db);
  const analytics = steadyAnalytics({ db, snapshots });
  const app = appId(randomUUID());
  await commit(app, 1);
  const requests: WeakRef<object>[] = [];
  const ask = (): Promise<void> => {
    const request = { answer: 'x'.repeat(1_000) };
    requests.push(new WeakRef(request));
    const caller = {
      key: 'one',
      signal: new AbortController().signal,
      onRowsRead: () => void request.answer,
    };
    return onBehalfOf(caller, async () => {
      await snapshots(app, { events: null, sessions: null });
      await analytics.overview(app, { from: epochMs(1_763_600_400_000), to: epochMs(1_763_690_000_000) });
      await analytics.locations(app, { from: null, to: null });
      await analytics.utmCampaigns(app, { from: null, to: null });
      await analytics.pageviews(app, { from: null, to: null });
    });
  };
  for (let i = 0; i < 3; i++) {
    await commit(app, 1);
    await ask();
  }
  await collectGarbage();
  expect(requests.map((request) => request.deref())).toEqual([undefined, undefined, undefined]);
});

test('late hours are read again only when they may have changed', async () => {
  const app = appId(randomUUID());
  const HOUR = 1_763_600_400;
  const read = createSnapshots(db);
  const counts = (hour: number, events: number) =>
    db.insert('ledger', [{ app_id: app, kind: 'event', hour, events }], { about: [app] });
  await db.insert(
    'sealing_verdicts',
    [
      {
        app_id: app,
        kind: 'page',
        run: 1,
        verdict: 'published',
        step: 1,
        sealed_until: (HOUR + 2 * 3_600) * 1_000,
      },
    ],
    { about: [app] },
  );
  const look = async (): Promise<[late: number[], statements: number]> => {
    statements.length = 0;
    const { late } = await read(app);
    expect(late).toEqual((await createSnapshots(db)(app)).late);
    return [
      late.page.map(({ committed }) => committed),
      statements.filter((name) => name === 'late hours').length - 1,
    ];
  };
  await counts(HOUR, 1);
  expect(await look()).toEqual([[1], 1]);
  // Events of later hours change nothing.
  await counts(HOUR + 9 * 3_600, 5);
  expect(await look()).toEqual([[1], 0]);
  await counts(HOUR, 2);
  await counts(HOUR + 3_600, 4);
  expect(await look()).toEqual([[3, 4], 1]);
});

test('late sessions are found once for all questions of a moment, and their events of later hours are read', async () => {
  const HOUR = 3_600_000;
  const app = newApp();
  const start = NOW - 100 * HOUR;
  const analytics = steadyAnalytics({ db });
  const send = (...hours: number[]) => {
    const events = hours.map((hour) => {
      return { type: 'pageview', timestamp: toIso(epochMs(start + hour * HOUR)), path: '/' };
    });
    const session = { id: 's', visitorId: 'v', startedAt: toIso(epochMs(start)), events };
    return ingestionOn(db).accept(app, { batchId: randomUUID(), sessions: [session] }, REQUEST);
  };
  const range = { from: epochMs(start + 2 * HOUR), to: NOW };
  const open = { from: null, to: null };
  const answers = () =>
    Promise.all([
      analytics.pageviews(app.id, range).then((rows) => [...rows]),
      analytics.timeSpent(app.id, range).then((rows) => [...rows]),
      analytics.utmCampaigns(app.id, open),
      analytics.locations(app.id, open),
      analytics.kpis(app.id, { from: epochMs(start), to: NOW }),
      analytics.overview(app.id, open),
    ]);
  await send(0, 20);
  await seal({ db, only: [app.id] }, NOW);
  await answers();
  for (const late of [10, 15]) {
    await send(late);
    statements.length = 0;
    const corrected = await answers();
    expect(statements.filter((name) => name === 'late sessions')).toHaveLength(2);
    expect(corrected[0]).toMatchObject([{ path: '/', views: late === 10 ? 2 : 3, uniqueSessions: 1 }]);
    expect(corrected).toEqual(await answers());
  }
  const corrected = await answers();
  await unseal({ db, only: [app.id] }, NOW);
  expect(await answers()).toEqual(corrected);
});
