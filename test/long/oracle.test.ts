import { expect, test } from 'vitest';
import { printedSeed } from '../support/chance.ts';
import { caseArbitrary } from '../support/generate.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { expectAgreement } from '../support/oracle/compare.ts';
import { oracleStore } from '../support/oracle/store.ts';
import { forAll } from '../support/random.ts';

const CASES = Number(process.env['ORACLE_CASES'] ?? 20);

// No answer depends on the time zone of the process. This one's clock is changed at other times than Tehran's was.
process.env['TZ'] = 'America/St_Johns';
const on = oracleStore();

test('every endpoint answers as a brute-force count does', { timeout: 0 }, async () => {
  let cases = 0;
  await forAll(
    caseArbitrary,
    async (story) => {
      cases += 1;
      await expectAgreement(on.subject, story);
    },
    { runs: CASES },
  );
  process.stdout.write(`oracle: ${cases} cases\n`);
  expect(cases).toBeGreaterThanOrEqual(CASES);
});

test('every endpoint answers as a brute-force count does on weeks of traffic', { timeout: 0 }, async () => {
  const options = { apps: 2, sessions: 1_500, visitors: 400, days: 35, probes: 6 };
  const from = new Date('2022-08-25T00:00:00Z').getTime();
  const seed = printedSeed('weeks of traffic');
  await expectAgreement(on.subject, randomTraffic({ seed, from, ...options }));
});
