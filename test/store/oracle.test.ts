import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caseArbitrary } from '../support/generate.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { expectAgreement, type Subject } from '../support/oracle/compare.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { type TestStore, testStore } from '../support/store.ts';

const CASES = Number(process.env['ORACLE_CASES'] ?? 50);

let store: TestStore;
let subject: Subject;

beforeAll(async () => {
  store = await testStore();
  subject = await subjectOn(store.db);
});

afterAll(async () => {
  await store.close();
});

test('every endpoint answers as a brute-force count does', { timeout: 0 }, async () => {
  let cases = 0;
  await fc.assert(
    fc.asyncProperty(caseArbitrary, async (story) => {
      cases += 1;
      await expectAgreement(subject, story);
    }),
    { numRuns: CASES },
  );
  process.stdout.write(`oracle: ${cases} cases\n`);
  expect(cases).toBeGreaterThanOrEqual(CASES);
});

test.each([1, 2])('so it does on weeks of traffic, seed %i', { timeout: 0 }, async (seed) => {
  const options = { apps: 2, sessions: 1_500, visitors: 400, days: 35, probes: 6 };
  const from = new Date('2022-08-25T00:00:00Z').getTime();
  await expectAgreement(subject, randomTraffic({ seed, from, ...options }));
});
