import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { createReaders } from '../../src/facts/readers.ts';
import { seal } from '../../src/facts/seal.ts';
import { caseArbitrary } from '../support/generate.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { expectAgreement, type Hooks, type Subject } from '../support/oracle/compare.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { type TestStore, testStore } from '../support/store.ts';

const CASES = Number(process.env['SEALING_CASES'] ?? 40);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let store: TestStore;
let subject: Subject;

beforeAll(async () => {
  store = await testStore();
  subject = await subjectOn(store.db);
});

afterAll(async () => {
  await store.close();
});

/** How far a run may seal, counted from the first event of the story; null: no run at this point. */
const runsArbitrary = fc.array(
  fc.option(
    fc.record({
      days: fc.constantFrom(-1, 0, 0, 1, 1, 2, 3, 40, 400),
      hours: fc.integer({ min: 0, max: 26 }),
    }),
    { nil: null, freq: 2 },
  ),
  { minLength: 1, maxLength: 7 },
);

/** Sealing at given moments of the arrival, and before the questions. */
function sealingAt(
  start: number,
  runs: readonly ({ readonly days: number; readonly hours: number } | null)[],
): Hooks {
  let next = 0;
  const run = async (at: Subject): Promise<Subject> => {
    const moment = runs[next++ % runs.length];
    if (moment === null || moment === undefined) return at;
    const now = epochMs(start + moment.days * DAY + moment.hours * HOUR);
    await seal({ db: store.db, readers: createReaders(0), only: at.apps() }, now);
    return at;
  };
  return { afterArrivals: run, beforeQuestions: run };
}

test('answers stay exact whenever sealing ran', { timeout: 0 }, async () => {
  let cases = 0;
  await fc.assert(
    fc.asyncProperty(caseArbitrary, runsArbitrary, async (story, runs) => {
      cases += 1;
      const starts = story.batches.flatMap(({ deliveries }) =>
        deliveries.map(({ session }) => session.startedAt),
      );
      await expectAgreement(subject, story, sealingAt(Math.min(...starts), runs));
    }),
    { numRuns: CASES, endOnFailure: process.env['SEALING_SHRINK'] === undefined },
  );
  process.stdout.write(`sealing: ${cases} cases\n`);
  expect(cases).toBeGreaterThanOrEqual(CASES);
});

test.each([3, 4])('and on weeks of traffic with late batches, seed %i', { timeout: 0 }, async (seed) => {
  const options = { apps: 2, sessions: 1_500, visitors: 400, days: 35, probes: 12 };
  const from = new Date('2022-08-25T00:00:00Z').getTime();
  const runs = [{ days: 10, hours: 3 }, null, null, { days: 36, hours: 1 }, { days: 20, hours: 5 }];
  await expectAgreement(subject, randomTraffic({ seed, from, ...options }), sealingAt(from, runs));
});
