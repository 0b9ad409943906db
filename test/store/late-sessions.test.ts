import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { onEachBackend } from '../support/backends.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { ingestionOn, NOW, REQUEST } from './ingestion-support.ts';

/* Which events are read of sessions with late events. */

const START = NOW - 60 * HOUR_MS;
const RANGES = [
  { from: epochMs(START - HOUR_MS), to: NOW },
  { from: epochMs(START), to: epochMs(START + 10 * 60_000) },
];

interface Visit {
  readonly id: string;
  readonly startedAt: number;
  readonly visitor: string;
  readonly at: readonly number[];
}

const sent = ({ id, startedAt, visitor, at }: Visit) => ({
  id,
  visitorId: visitor,
  startedAt: new Date(startedAt).toISOString(),
  context: {},
  events: at.map((ms) => ({ type: 'pageview', path: `/${id}`, timestamp: new Date(ms).toISOString() })),
});

onEachBackend((on) => {
  let analytics: Analytics;
  beforeAll(() => {
    analytics = steadyAnalytics({ db: on.db });
  });

  /** Seals the visits, and then stores the late ones. All answers must equal those of an app that is not sealed. */
  async function compare(visits: readonly Visit[], late: readonly Visit[]): Promise<void> {
    const ingestion = ingestionOn(on.db);
    const [app, twin] = [appId(randomUUID()), appId(randomUUID())];
    const store = async (of: readonly Visit[]): Promise<void> => {
      for (const id of [app, twin]) {
        for (let first = 0; first < of.length; first += 500) {
          const sessions = of.slice(first, first + 500).map(sent);
          const batch = { batchId: randomUUID(), sessions };
          const { rejected } = await ingestion.accept({ id, domain: KNOWN_DOMAIN }, batch, REQUEST);
          expect(rejected).toEqual([]);
        }
      }
    };
    const ask = async (of: AppId) => [
      await Promise.all(RANGES.map((range) => analytics.kpis(of, range))),
      await Promise.all(RANGES.map(async (range) => [...(await analytics.pageviews(of, range))])),
    ];
    await store(visits);
    await seal({ db: on.db, only: [app] }, NOW);
    expect(await ask(app)).toEqual(await ask(twin));
    await store(late);
    for (let time = 0; time < 3; time++) expect(await ask(app)).toEqual(await ask(twin));
  }

  test('a session with the start of a late one and the id of another is none of them', async () => {
    const later = START + HOUR_MS;
    const first = { id: 'a', startedAt: START, visitor: 'one', at: [START] };
    const second = { id: 'b', startedAt: later, visitor: 'two', at: [later] };
    // It has no late events. Its events in the hour of the second one name another visitor.
    const other = { id: 'b', startedAt: START, visitor: 'three', at: [START] };
    const visits = [first, second, other, { ...other, visitor: 'four', at: [later + 1] }];
    await compare(visits, [
      { ...first, at: [START + 1_000] },
      { ...second, at: [later + 1_000] },
    ]);
  });

  test('more hours of sessions are late than are named with their sessions', async () => {
    const visits = Array.from({ length: 300 }, (_, i): Visit => {
      const startedAt = START + i * 2_000;
      return { id: `s${i}`, startedAt, visitor: `v${i % 90}`, at: [startedAt, startedAt + HOUR_MS] };
    });
    const late = visits.map((visit) => ({ ...visit, at: [visit.startedAt + 30 * 60_000] }));
    await compare(visits, late);
  });
});
