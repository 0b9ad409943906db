import { expect, test } from 'vitest';
import { caseArbitrary } from '../support/generate.ts';
import { expectAgreement } from '../support/oracle/compare.ts';
import { oracleStore } from '../support/oracle/store.ts';
import { forAll } from '../support/random.ts';

const on = oracleStore();

// `npm run test:long` runs more cases, and weeks of traffic.
test('every answer equals a brute-force count', { timeout: 0 }, async () => {
  let cases = 0;
  await forAll(
    caseArbitrary,
    async (story) => {
      cases += 1;
      await expectAgreement(on.subject, story);
    },
    { runs: 10 },
  );
  expect(cases).toBeGreaterThanOrEqual(10);
});
