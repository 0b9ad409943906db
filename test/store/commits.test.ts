import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, dateTime64, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import type { Scope } from '../../src/snapshots/rows.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { forAll } from '../support/random.ts';

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

const moreOf = (app: AppId): object => ({
  app_id: app,
  kind: 'event',
  hour: NOW / 1000 - 1_800,
  events: 1,
  oldest: dateTime64(NOW),
  newest: dateTime64(NOW),
  last_event: dateTime64(NOW),
});
