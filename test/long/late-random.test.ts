import fc from 'fast-check';
import { expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { printedSeed } from '../support/chance.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { askAbout, expectAgreement, type Subject, UNTIL_CACHED } from '../support/oracle/compare.ts';
import { oracleStore } from '../support/oracle/store.ts';

/*
 * Batches arrive in random order, and sealing runs early, so many events are late. Some plans repair them,
 * others do not.
 */

const DAY = 86_400_000;
const START = Date.UTC(2026, 2, 1);
const DAYS = 4;
const PER_BATCH = 15;
/** The runs, evenly spread over the arrivals: true if the run repairs late hours. */
const PLANS: readonly (readonly boolean[])[] = [
  [false, false, false],
  [false, true, false],
];

const on = oracleStore();

test.each(PLANS.map((repairs) => ({ repairs })))(
  'answers are exact with late events in most hours, repairs $repairs',
  { timeout: 0 },
  async ({ repairs }) => {
    const seed = printedSeed(`late events, repairs ${repairs}`);
    const traffic = randomTraffic({
      seed,
      from: START,
      apps: 1,
      sessions: 350,
      visitors: 60,
      days: DAYS,
      probes: 14,
    });
    const all = traffic.batches.flatMap(({ deliveries }) => deliveries);
    const [deliveries = []] = fc.sample(fc.shuffledSubarray(all, { minLength: all.length }), {
      seed,
      numRuns: 1,
    });
    const batches = Array.from({ length: Math.ceil(all.length / PER_BATCH) }, (_, i) => ({
      app: 0,
      again: [],
      deliveries: deliveries.slice(i * PER_BATCH, (i + 1) * PER_BATCH),
    }));
    const story = { ...traffic, batches, parallel: 5 };
    let runs = 0;
    const afterArrivals = async (at: Subject, arrived: number): Promise<Subject> => {
      const isDue = arrived >= ((runs + 1) * batches.length) / (repairs.length + 1);
      if (!isDue || runs === repairs.length) return at;
      const repairAfterMs = repairs[runs++] ? 0 : Number.POSITIVE_INFINITY;
      // The last run leaves a tail.
      const now = epochMs(START + (runs === repairs.length ? DAYS - 0.4 : runs + 0.7) * DAY);
      await seal({ db: on.store.db, only: at.apps() }, now, { repairAfterMs });
      const times = runs === repairs.length ? UNTIL_CACHED : 2;
      for (let time = 0; time < times; time++) await askAbout(at, at.apps(), story.probes.slice(0, 2));
      return at;
    };
    const asked = await expectAgreement(on.subject, story, { afterArrivals });
    expect(asked).toBe(story.probes.length);
    expect(runs).toBe(repairs.length);
  },
);
