import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAnalytics } from '../../src/analytics/analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import { wallClock } from '../../src/cli/wall-clock.ts';
import { type Database, dateTime64, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { identifier, join, sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import type { Scope } from '../../src/domain/scope.ts';
import { type EpochMs, epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createIngestion } from '../../src/ingestion/ingestion.ts';
import { LEDGER_COLUMNS } from '../../src/ingestion/ledger-rows.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { UNTIL_CACHED } from '../support/oracle/compare.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { forAll } from '../support/random.ts';
import { replaced } from '../support/replaced.ts';
import { REQUEST, SILENT } from './ingestion-support.ts';

// On the embedded engine, whatever the tests' store: only there is a process alone.
const place = embeddedPlace();
const NOW = epochMs(Date.UTC(2026, 2, 10, 12, 30));
let db: Database;
let deliver: Awaited<ReturnType<typeof subjectOn>>['deliver'];
let statements: string[] = [];

beforeAll(async () => {
  db = await openDatabase(place.location, { onStatement: ({ name }) => statements.push(name) });
  await migrate(db);
  ({ deliver } = await subjectOn(db));
});
afterAll(async () => {
  await db.close();
  place.remove();
});

/** Ranges that questions have, in hours before NOW. */
const SCOPES: readonly Scope[] = [
  { events: null, sessions: null },
  ...[
    [48, 0],
    [30.5, 3.2],
    [2, -1],
  ].map(([from = 0, to = 0]): Scope => {
    const range = { from: epochMs(NOW - from * HOUR_MS), to: epochMs(NOW - to * HOUR_MS) };
    return { events: range, sessions: range };
  }),
];

/** Sessions of some pages each, by their start in minutes before NOW. */
const sent = fc.array(
  fc.record({ start: fc.integer({ min: 0, max: 3_000 }), pages: fc.integer({ min: 1, max: 80 }) }),
  {
    minLength: 1,
    maxLength: 4,
  },
);
const step = fc.oneof(
  { weight: 6, arbitrary: sent.map((visits) => ({ visits })) },
  { weight: 1, arbitrary: fc.constantFrom('seal' as const, 'other' as const) },
);

async function send(
  app: AppId,
  visits: readonly { readonly start: number; readonly pages: number }[],
): Promise<void> {
  const sessions = visits.map(({ start, pages }) => {
    const startedAt = NOW - start * 60_000 + pages;
    const events = Array.from({ length: pages }, (_, i) => ({
      type: 'pageview' as const,
      path: '/',
      timestamp: startedAt + i * 61_000,
    }));
    return {
      session: { id: randomUUID(), visitorId: `visitor-${start % 7}`, startedAt },
      context: {},
      events,
    };
  });
  const { accepted } = await deliver({ id: app, domain: KNOWN_DOMAIN }, randomUUID(), sessions as never[]);
  expect(accepted).toBe(visits.reduce((sum, { pages }) => sum + pages, 0));
}

test('a snapshot that is made from the commits in memory equals one that is read', async () => {
  let [inMemory, asked] = [0, 0];
  await forAll(
    fc.array(step, { minLength: 5, maxLength: 15 }),
    async (steps) => {
      const app = appId(randomUUID());
      const snapshots = createSnapshots(db);
      await send(app, [{ start: 2_000, pages: 5 }]);
      for (const each of steps) {
        if (each === 'seal') await seal({ db, only: [app] }, NOW);
        // The ledger as another statement than a commit changes it.
        else if (each === 'other') await db.insert('ledger', [moreOf(app)], { about: [app] });
        else await send(app, each.visits);
        for (const scope of SCOPES) {
          statements = [];
          const known = await snapshots(app, scope);
          asked++;
          if (statements.length === 0) inMemory++;
          expect(known).toEqual(await createSnapshots(db)(app, scope));
        }
      }
    },
    { runs: 4 },
  );
  // Most follow from the commits. A few are read: the first ones, those after other writes, and those with late events.
  expect(inMemory / asked).toBeGreaterThan(0.5);
});

test('while a write is under way, a snapshot holds the commits that have ended', async () => {
  const app = appId(randomUUID());
  const snapshots = createSnapshots(db);
  const equal = async () => {
    statements = [];
    const known = await snapshots(app);
    const sent = [...statements];
    expect(known).toEqual(await createSnapshots(db)(app));
    return sent;
  };
  for (let time = 0; time < 2; time++) {
    await send(app, [{ start: 2_000, pages: 5 }]);
    await equal();
  }
  const writing = db.insertFrom('ledger', LEDGER_COLUMNS, SLOW_NOTHING, {}, { about: [app] });
  await send(app, [{ start: 1_900, pages: 3 }]);
  expect(await equal()).toEqual([]);
  expect(db.own.stamp(app)).toBeNull();
  await writing;
  expect(await equal()).not.toEqual([]);
});

/** No rows of `ledger`, which take a second. */
const SLOW_NOTHING = sql`SELECT ${join(LEDGER_COLUMNS.map(identifier))} FROM ledger WHERE sleep(1) = 1`;

const moreOf = (app: AppId): object => ({
  app_id: app,
  kind: 'event',
  hour: NOW / 1000 - 1_800,
  events: 1,
  oldest: dateTime64(NOW),
  newest: dateTime64(NOW),
  last_event: dateTime64(NOW),
});

/** A session of one page. */
const visitAt = (
  startedAt: number,
  events: readonly number[] = [startedAt],
  visitorId = `visitor-${startedAt % 3}`,
) => ({
  id: `session-${startedAt}`,
  visitorId,
  startedAt: new Date(startedAt).toISOString(),
  context: {},
  events: events.map((at) => ({ type: 'pageview', path: '/', timestamp: new Date(at).toISOString() })),
});
const SEALED = NOW - 40 * HOUR_MS;

type Ask = (of: Analytics) => Promise<readonly unknown[]>;

/** An app with sealed hours. */
async function sealedApp(wallClock: () => EpochMs, storing: Database = db) {
  const app = appId(randomUUID());
  const ingestion = createIngestion({
    db: storing,
    clock: () => NOW,
    wallClock,
    log: SILENT,
    maxAgeDays: 730,
  });
  let analytics = createAnalytics({ db });
  const forget = (): void => {
    analytics = createAnalytics({ db });
  };
  const store = async (...sessions: readonly object[]): Promise<void> => {
    const { rejected } = await ingestion.accept(
      { id: app, domain: KNOWN_DOMAIN },
      { batchId: randomUUID(), sessions },
      REQUEST,
    );
    expect(rejected).toEqual([]);
  };
  const range = { from: epochMs(NOW - 50 * HOUR_MS), to: NOW };
  const some: Ask = async (of) => [
    await of.kpis(app, range),
    await of.overview(app, range),
    [...(await of.pageviews(app, range))],
  ];
  const ofEvents: Ask = async (of) => [
    await of.kpis(app, range),
    await of.userGrowth(app, range),
    await of.trafficHeatmap(app, NOW),
    await of.audienceActivity(app, NOW),
  ];
  /** Returns the statements of some questions, whose answers must equal those without a cache. */
  const asked = async (ask = some): Promise<readonly string[]> => {
    statements = [];
    const answers = await ask(analytics);
    const sent = [...statements];
    expect(answers).toEqual(await ask(createAnalytics({ db, memory: new Memory(0) })));
    return sent;
  };
  /** Asks until everything that can be cached is cached. */
  const warm = async (ask = some): Promise<void> => {
    for (let time = 1; time < UNTIL_CACHED; time++) await ask(analytics);
    await asked(ask);
  };
  await store(...[0, 1, 2, 3].map((hours) => visitAt(SEALED + hours * HOUR_MS)));
  await seal({ db, only: [app] }, NOW);
  await store(visitAt(NOW - 600_000));
  return { app, store, warm, asked, forget, ofEvents };
}

test('the sessions of late events that this process has committed are known', async () => {
  const { store, warm, asked } = await sealedApp(wallClock);
  await warm();
  for (const [time, minutes] of [1, 70, 2].entries()) {
    await store(
      visitAt(SEALED, [SEALED + minutes * 60_000]),
      visitAt(NOW - 600_000, [NOW - 500_000 + minutes]),
    );
    const sent = await asked();
    expect(sent).toContain('late keys');
    const found = sent.filter((name) =>
      /^(late hours|sealed hours|late sessions|unsealed slots|snapshot)/.test(name),
    );
    expect(found).toEqual(time === 0 ? ['sealed hours'] : []);
  }
});

test('the visitors of committed events are looked up while their sessions are read', async () => {
  const { store, warm, asked } = await sealedApp(wallClock);
  await warm();
  const visitsOf = async (...sessions: readonly object[]): Promise<string[]> => {
    await store(...sessions);
    return (await asked()).filter((name) => name.startsWith('visits'));
  };
  const ahead = ['visits, ahead totals'];
  for (const time of [1, 2, 3]) {
    // A visitor who returns, a new one, and one whose sealed session goes on.
    expect(await visitsOf(visitAt(NOW - 500_000 + time))).toEqual(ahead);
    expect(await visitsOf(visitAt(NOW - 400_000, [NOW - 400_000 + time], 'new'))).toEqual(
      time === 1 ? ahead : [],
    );
    expect(await visitsOf(visitAt(SEALED, [SEALED + time * 60_000]))).toEqual(ahead);
  }
  // A session that is late as a whole, of a visitor with no other: the store is asked once more.
  expect(await visitsOf(visitAt(SEALED + 1, [SEALED + 1], 'late'))).toEqual([...ahead, 'visits, all totals']);
  // An earlier event of the session names another visitor.
  expect(await visitsOf(visitAt(NOW - 400_000, [NOW - 400_000], 'other'))).toEqual(['visits, last totals']);
});

test('nothing is known while a write is under way, because a statement may have seen it already', async () => {
  const { app, store, warm, asked } = await sealedApp(wallClock);
  await warm();
  const before = db.own.position(app);
  await store(visitAt(SEALED + 1));
  expect(db.own.commitsSince(app, before)).toHaveLength(1);
  const writing = db.insertFrom('ledger', LEDGER_COLUMNS, SLOW_NOTHING, {}, { about: [app] });
  expect(db.own.commitsSince(app, before)).toBeNull();
  await asked();
  await writing;
  expect(db.own.commitsSince(app, before)).toBeNull();
  await store(visitAt(SEALED + 2));
  await asked();
});

const ofTraffic = (sent: readonly string[]): string[] =>
  sent.filter((name) => /^(event sums|unsealed traffic|tehran hours: events)/.test(name));

test('sums of events grow with the commits', async () => {
  const { app, store, warm, asked, ofEvents } = await sealedApp(wallClock);
  const at = (ms: number, type: string) => ({ type, timestamp: new Date(ms).toISOString() });
  await warm(ofEvents);
  for (const [n, type] of ['click', 'error', 'pageview', 'custom', 'engagement'].entries()) {
    const details = { path: '/', target: 'a', message: 'b', name: 'c', durationMs: 7 };
    // In both halves of hours that are sealed and that are not, and around the watermark.
    const times = [SEALED + n, SEALED + 40 * 60_000, NOW - 31 * 60_000, NOW - 29 * 60_000];
    const sessions = times.map((ms) => ({
      ...visitAt(ms - 1_000),
      events: [{ ...at(ms, type), ...details }],
    }));
    await store(...sessions);
    expect(ofTraffic(await asked(ofEvents))).toEqual([]);
  }
  // Whatever else is written about the app, all is read again.
  await db.insert('ledger', [moreOf(app)], { about: [app] });
  expect(ofTraffic(await asked(ofEvents))).not.toEqual([]);
  await store(visitAt(SEALED + 60_000));
  expect(ofTraffic(await asked(ofEvents))).toEqual([]);
});

test('sums of events that are read before a flush is committed do not get its events twice', async () => {
  let commit = Promise.resolve();
  const { store, warm, asked, forget, ofEvents } = await sealedApp(
    wallClock,
    replaced(db, {
      insertText: async (table, ...others) => {
        if (table === 'ledger') await commit;
        return db.insertText(table, ...others);
      },
    }),
  );
  let end = (): void => undefined;
  commit = new Promise((resolve) => {
    end = resolve;
  });
  const visible = statements.length;
  const storing = store(visitAt(NOW - 300_000), visitAt(SEALED, [SEALED + 60_000]));
  while (!statements.slice(visible).some((name) => name.startsWith('insert events'))) await sleep(5);
  forget();
  await warm(ofEvents);
  end();
  await storing;
  expect(ofTraffic(await asked(ofEvents))).not.toEqual([]);
  await store(visitAt(NOW - 200_000), visitAt(SEALED, [SEALED + 70_000]));
  expect(ofTraffic(await asked(ofEvents))).toEqual([]);
});

test('late events that seem to be older than the facts are not taken for events in them', async () => {
  let backMs = 0;
  const { store, warm, asked } = await sealedApp(() => epochMs(wallClock() - backMs));
  await warm();
  await store(visitAt(SEALED + 1));
  expect(await asked()).not.toContain('late sessions');
  // The clock is set back.
  backMs = HOUR_MS;
  await store(visitAt(SEALED + 2), visitAt(SEALED, [SEALED + 5_000]));
  expect(await asked()).toContain('late sessions');
  backMs = 0;
  await store(visitAt(SEALED + 3));
  await asked();
});
