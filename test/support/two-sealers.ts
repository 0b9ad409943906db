import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { AppError } from '../../src/domain/errors.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs, type OpenRange } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { RunEnded } from '../../src/facts/runs.ts';
import { ingestionOn, NOW, REQUEST } from '../store/ingestion-support.ts';
import { byChance } from './chance.ts';
import { deferred } from './deferred.ts';
import { type TestStore, testStore } from './store.ts';

/*
 * Stops one sealer before one of its writing statements, lets another one seal everything, and then lets the
 * first one, or only its statement, continue. Runs alone keep the two apart. The answers must equal those of
 * an app with the same events that is never sealed.
 */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MODES = {
  /** The process stops for a while and continues. */
  paused: { goesOn: true, executes: 'later' },
  /** The process dies, but its statement is executed later. */
  'dead, but its statement goes on': { goesOn: false, executes: 'later' },
  /** The process dies before it sends the statement. */
  dead: { goesOn: false, executes: 'never' },
  /** The connection is cut; the statement is executed later. */
  'cut off': { goesOn: true, executes: 'after a failure' },
} as const;
export type Mode = keyof typeof MODES;
const RANGES: readonly OpenRange[] = [
  { from: null, to: null },
  { from: epochMs(NOW - 3 * DAY + 1_234_567), to: epochMs(NOW - 30 * HOUR - 7) },
];

let store: TestStore;
let ingestion: ReturnType<typeof ingestionOn>;
let analytics: Analytics;

const visit = (hoursAgo: number, minutes: readonly number[], visitor = hoursAgo % 3) => {
  const start = NOW - hoursAgo * HOUR;
  return {
    id: `session-${hoursAgo}`,
    visitorId: `visitor-${visitor}`,
    startedAt: new Date(start).toISOString(),
    context: {
      utm: { source: 'letter', campaign: `c${hoursAgo % 2}` },
      location: { country: 'IR', latitude: 35.7, longitude: 51.4 },
    },
    events: minutes.map((minute, i) => ({
      type: i % 3 === 2 ? 'click' : 'pageview',
      timestamp: new Date(start + minute * 60_000).toISOString(),
      path: `/${minute % 4}`,
      target: '#buy',
    })),
  };
};
const EARLY = [97, 96, 90, 73, 72, 71, 60, 50, 49, 31].map((hours) => visit(hours, [0, 30, 59, 70, 200]));
const LATE = [visit(90, [61, 300]), visit(85, [0, 5], 0), visit(72, [400])];

async function send(app: AppId, sessions: readonly object[]): Promise<void> {
  const batch = { batchId: randomUUID(), sessions };
  const { rejected } = await ingestion.accept({ id: app, domain: 'https://shop.example' }, batch, REQUEST);
  expect(rejected).toEqual([]);
}

const answersOf = async (app: AppId, range: OpenRange): Promise<unknown[]> =>
  Promise.all([
    analytics.overview(app, range),
    analytics.locations(app, range),
    analytics.utmCampaigns(app, range),
    analytics.userGrowth(app, range),
    analytics.pageviews(app, range),
    analytics.timeSpent(app, range),
    analytics.kpis(app, { from: epochMs(NOW - 3 * DAY + 17), to: epochMs(NOW - 40 * HOUR) }),
    analytics.trafficHeatmap(app, NOW),
    analytics.audienceActivity(app, NOW),
    analytics.dataBounds(app),
  ]);

const WRITES = ['insert', 'insertFrom', 'command'] as const;

/** Wraps the store for a sealer, so that it stops before its `stop`-th writing statement. */
export function stoppedAt(db: Database, stop: number, mode: Mode) {
  let writes = 0;
  const stopped = deferred();
  const resumed = deferred();
  let late: Promise<unknown> = Promise.resolve();
  const { goesOn, executes } = MODES[mode];
  const never = new Promise<never>(() => undefined);
  const write = async (execute: () => Promise<void>): Promise<void> => {
    writes += 1;
    if (writes > stop && !goesOn) return never;
    if (writes !== stop) return execute();
    stopped.resolve();
    const executed = resumed.promise.then(() => (executes === 'never' ? undefined : execute()));
    late = executed;
    if (executes === 'after a failure') throw new AppError('internal', 'The connection was cut.');
    await executed;
    if (!goesOn) return never;
  };
  const view = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = (...args: unknown[]): Promise<void> => value.apply(target, args) as Promise<void>;
      return WRITES.includes(name as (typeof WRITES)[number])
        ? (...args: unknown[]) => write(() => call(...args))
        : call;
    },
  });
  return {
    db: view,
    stopped: stopped.promise,
    goOn: async () => {
      resumed.resolve();
      await late;
    },
    get writes() {
      return writes;
    },
  };
}

/** Resolves to false if the sealer finished before it reached that statement. */
async function sealWithTwo(app: AppId, stop: number, mode: Mode): Promise<boolean> {
  const one = stoppedAt(store.db, stop, mode);
  const sealing = seal({ db: one.db, only: [app] }, NOW).then(
    () => 'done',
    (error: unknown) => error,
  );
  const first = await Promise.race([one.stopped.then(() => 'stopped'), sealing]);
  if (first !== 'stopped') {
    expect(first).toBe('done');
    return false;
  }
  await seal({ db: store.db, only: [app] }, NOW);
  await one.goOn();
  if (MODES[mode].goesOn) {
    const outcome = await sealing;
    const isExpected = outcome === 'done' || outcome instanceof RunEnded || outcome instanceof AppError;
    expect(isExpected, String(outcome)).toBe(true);
  }
  return true;
}

export interface TwoSealersOptions {
  /** `all`: every mode at every write. `in turn`: the two modes that cover the others. */
  readonly modes: 'all' | 'in turn';
  /** Stops the first sealer before every write (1), or before each n-th from a random one on. */
  readonly every: number;
}

const WHAT = ['new hours', 'late events'] as const;

/** Declares the tests of one file, on a store of their own. */
export function testTwoSealers({ modes, every }: TwoSealersOptions): void {
  beforeAll(async () => {
    store = await testStore();
    ingestion = ingestionOn(store.db);
    analytics = steadyAnalytics({ db: store.db });
  });
  afterAll(() => store.close());

  const plans: readonly (readonly Mode[])[] =
    modes === 'all'
      ? (Object.keys(MODES) as Mode[]).map((mode) => [mode])
      : [['paused', 'dead, but its statement goes on']];
  const cases = plans.flatMap((plan) => WHAT.map((what) => ({ plan, what })));
  test.each(cases)(
    'two sealers at once, the first one stopped before its writes: $what, $plan',
    { timeout: 0 },
    ({ plan, what }) => stopInTurn(plan, what, every),
  );
}

/**
 * Stops the first of two sealers before each of its writes, and expects the answers of an app that is never
 * sealed.
 */
async function stopInTurn(plan: readonly Mode[], what: (typeof WHAT)[number], every: number): Promise<void> {
  const twin = appId(randomUUID());
  const isLate = what === 'late events';
  await send(twin, EARLY);
  if (isLate) await send(twin, LATE);
  const expected = await Promise.all(RANGES.map((range) => answersOf(twin, range)));
  let [stop, stops, wasStopped] = [1 + byChance(every), 0, true];
  while (wasStopped) {
    const app = appId(randomUUID());
    await send(app, EARLY);
    if (isLate) {
      await seal({ db: store.db, only: [app] }, NOW);
      await send(app, LATE);
    }
    const mode = plan[stop % plan.length] ?? 'paused';
    wasStopped = await sealWithTwo(app, stop, mode);
    for (const [i, range] of RANGES.entries()) {
      expect(await answersOf(app, range), `${mode} at write ${stop}`).toEqual(expected[i]);
      // Then the next run deletes what the first sealer left.
      if (i === 0) await seal({ db: store.db, only: [app] }, NOW);
    }
    if (wasStopped) stops += 1;
    stop += every;
  }
  process.stdout.write(`sealing with two: ${what}, ${plan.join(' and ')}: stopped ${stops} times\n`);
  // A pass has more than ten writes.
  expect(stops).toBeGreaterThanOrEqual(Math.max(1, Math.floor(10 / every)));
}
