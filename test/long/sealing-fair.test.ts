import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { sealStates } from '../../src/facts/seal-states.ts';
import type { Stretch } from '../../src/facts/stretch.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { ingestionOn, NOW, newApp, REQUEST } from '../store/ingestion-support.ts';
import { type TestStore, testStore } from '../support/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAYS = 700;
/** The smallest share of a pass that an app can have: one turn. */
const BUDGET_MS = 0.001;

let store: TestStore;
let ingestion: ReturnType<typeof ingestionOn>;

beforeAll(async () => {
  store = await testStore();
  ingestion = ingestionOn(store.db);
});
afterAll(() => store.close());

const visit = (start: number, visitor: string): object => ({
  id: randomUUID(),
  visitorId: visitor,
  startedAt: new Date(start).toISOString(),
  events: [
    { type: 'pageview', timestamp: new Date(start).toISOString(), path: '/' },
    { type: 'pageview', timestamp: new Date(start + 90 * 60_000).toISOString(), path: '/next' },
  ],
});

async function send(app: SdkApp, sessions: readonly object[]): Promise<void> {
  for (let i = 0; i < sessions.length; i += 400) {
    const batch = { batchId: randomUUID(), sessions: sessions.slice(i, i + 400) };
    const { rejected } = await ingestion.accept(app, batch, REQUEST);
    expect(rejected).toEqual([]);
  }
}

/** For an app with the same events that is never sealed. */
async function rawAnswers(app: AppId): Promise<unknown[]> {
  const analytics = steadyAnalytics({ db: store.db, memory: new Memory(0) });
  const range = { from: epochMs(NOW - DAYS * DAY + 12_345), to: epochMs(NOW - 3 * DAY) };
  return [
    await analytics.overview(app, range),
    await analytics.userGrowth(app, range),
    await analytics.kpis(app, range),
    await analytics.pageviews(app, range),
  ];
}

test('an app with frequent late events delays no other app, and only affected hours are sealed again', {
  timeout: 0,
}, async () => {
  const [busy, twin, ...others] = Array.from({ length: 5 }, newApp) as [SdkApp, SdkApp, ...SdkApp[]];
  const history = Array.from({ length: DAYS - 1 }, (_, day) =>
    visit(NOW - (day + 1) * DAY - 5 * HOUR, `visitor-${day % 50}`),
  );
  await send(busy, history);
  await send(twin, history);
  const stretches: Stretch[] = [];
  const only = [busy, ...others].map(({ id }) => id);
  const deps = { db: store.db, only, onStretch: (stretch: Stretch) => void stretches.push(stretch) };
  await seal(deps, NOW);

  for (const [i, day] of [650, 30].entries()) {
    const late = visit(NOW - day * DAY - 11 * HOUR, `visitor-${i}`);
    await send(busy, [late]);
    await send(twin, [late]);
    for (const other of others) await send(other, [visit(NOW - (i + 3) * DAY, 'v')]);
    stretches.length = 0;
    // A pass may leave work for the next one, but not for more.
    for (let pass = 0; pass < 2; pass++) {
      await seal(deps, NOW, { budgetMs: BUDGET_MS });
    }
    const behind = (await sealStates(deps, NOW)).filter(({ lagMs }) => lagMs > 0).map(({ app }) => app);
    for (const { id } of others) expect(behind).not.toContain(id);
    const repairs = stretches.filter(({ isRepair, apps }) => isRepair && apps === 1);
    expect(repairs.length).toBeGreaterThan(0);
    // Two late events, and the visitor's next session: an hour or a day of sessions has a handful of events.
    for (const { events } of repairs) expect(events).toBeLessThan(20);
    expect(await rawAnswers(busy.id)).toEqual(await rawAnswers(twin.id));
  }
});

test('a clock that is a year ahead seals no future hours, and answers stay exact', async () => {
  const app = newApp();
  await send(app, [visit(NOW - 60 * HOUR, 'a'), visit(NOW - 2 * HOUR, 'b')]);
  await seal({ db: store.db, only: [app.id] }, epochMs(NOW + 365 * DAY));
  const ahead = await sealStates({ db: store.db, only: [app.id] }, NOW);
  for (const { sealedUntil } of ahead) expect(sealedUntil).toBeLessThanOrEqual(NOW);
  const twin = newApp();
  const more = [visit(NOW - 60 * HOUR, 'a'), visit(NOW - 2 * HOUR, 'b'), visit(NOW - 91 * 60_000, 'b')];
  await send(app, more.slice(2));
  await send(twin, more);
  expect(await rawAnswers(app.id)).toEqual(await rawAnswers(twin.id));
  await seal({ db: store.db, only: [app.id] }, NOW);
  expect(await rawAnswers(app.id)).toEqual(await rawAnswers(twin.id));
});
