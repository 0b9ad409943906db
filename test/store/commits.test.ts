import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { createAnalytics } from '../../src/analytics/analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { identifier, join, sql } from '../../src/clickhouse/sql.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createIngestion } from '../../src/ingestion/ingestion.ts';
import { LEDGER_COLUMNS } from '../../src/ingestion/ledger-rows.ts';
import { publishedOf } from '../../src/snapshots/published.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { replaced } from '../support/replaced.ts';
import { REQUEST, SILENT } from './ingestion-support.ts';

// On the embedded engine, whatever the tests' store: only there is a process alone.
const place = embeddedPlace();
const NOW = epochMs(Date.UTC(2026, 2, 10, 12, 30));
let db: Database;
const statements: string[] = [];

beforeAll(async () => {
  db = await openDatabase(place.location, { onStatement: ({ name }) => statements.push(name) });
  await migrate(db);
});
afterAll(async () => {
  await db.close();
  place.remove();
});

/** Nothing, which takes a second to write to `ledger`. */
const SLOW_NOTHING = sql`SELECT ${join(LEDGER_COLUMNS.map(identifier))} FROM ledger WHERE sleep(1) = 1`;

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
async function sealedApp(storing: Database = db) {
  const app = appId(randomUUID());
  const ingestion = createIngestion({
    db: storing,
    clock: () => NOW,
    log: SILENT,
    maxAgeDays: 730,
  });
  let analytics = steadyAnalytics({ db });
  const forget = (): void => {
    analytics = steadyAnalytics({ db });
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
  /** Asks some questions. Their answers must equal those without a cache, and those from raw rows once nothing is being stored. */
  const asked = async (ask = some, isStoring = false): Promise<void> => {
    const answers = await ask(analytics);
    const fresh = steadyAnalytics({ db, memory: new Memory(0) });
    expect(answers).toEqual(await ask(fresh));
    if (isStoring) return;
    const nothing = { page: publishedOf(), session: publishedOf() };
    const snapshot = await createSnapshots(db)(app);
    const raw = createAnalytics({ db, memory: new Memory(0) });
    expect(answers).toEqual(
      await ask(raw({ ...snapshot, published: nothing, late: { page: [], session: [] } })),
    );
  };
  await store(...[0, 1, 2, 3].map((hours) => visitAt(SEALED + hours * HOUR_MS)));
  await seal({ db, only: [app] }, NOW);
  await store(visitAt(NOW - 600_000));
  return { app, store, asked, forget, ofEvents };
}

test('late events count at once, while other things are written about the app, too', async () => {
  const { app, store, asked } = await sealedApp();
  await asked();
  await store(visitAt(SEALED + 1));
  await asked();
  const writing = db.insertFrom('ledger', LEDGER_COLUMNS, SLOW_NOTHING, {}, { about: [app] });
  await store(visitAt(SEALED + 2), visitAt(SEALED, [SEALED + 60_000]));
  expect(db.own.stamp(app)).toBeNull();
  await asked();
  await writing;
  await asked();
});

test('sums of events hold all events that are committed, of every type, in every hour', async () => {
  const { store, asked, ofEvents } = await sealedApp();
  const at = (ms: number, type: string) => ({ type, timestamp: new Date(ms).toISOString() });
  await asked(ofEvents);
  for (const [n, type] of ['click', 'error', 'pageview', 'custom', 'engagement'].entries()) {
    const details = { path: '/', target: 'a', message: 'b', name: 'c', durationMs: 7 };
    // In both halves of hours that are sealed and that are not, and around the watermark.
    const times = [SEALED + n, SEALED + 40 * 60_000, NOW - 31 * 60_000, NOW - 29 * 60_000];
    await store(
      ...times.map((ms) => ({ ...visitAt(ms - 1_000), events: [{ ...at(ms, type), ...details }] })),
    );
    await asked(ofEvents);
  }
});

test('sums of events that are read before a flush is committed do not get its events twice', async () => {
  let commit = Promise.resolve();
  const { store, asked, forget, ofEvents } = await sealedApp(
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
  await asked(ofEvents, true);
  end();
  await storing;
  await asked(ofEvents);
  await store(visitAt(NOW - 200_000), visitAt(SEALED, [SEALED + 70_000]));
  await asked(ofEvents);
});

test('late events that seem to be older than the facts are not taken for events in them', async () => {
  let backMs = 0;
  const setBack = replaced(db, {
    insertFrom: (table, columns, select, ...others) =>
      table === 'events' && backMs > 0
        ? db.insertFrom(
            table,
            [...columns, 'inserted_at'],
            sql`SELECT *, now64(3) - toIntervalMillisecond(${backMs}) FROM (${select})`,
            ...others,
          )
        : db.insertFrom(table, columns, select, ...others),
  });
  const { store, asked } = await sealedApp(setBack);
  await asked();
  await store(visitAt(SEALED + 1));
  await asked();
  // The store's clock is set back.
  backMs = HOUR_MS;
  await store(visitAt(SEALED + 2), visitAt(SEALED, [SEALED + 5_000]));
  await asked();
  backMs = 0;
  await store(visitAt(SEALED + 3));
  await asked();
});
