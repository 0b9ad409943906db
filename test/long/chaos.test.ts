import { expect, test } from 'vitest';
import { chaos } from '../chaos/run.ts';

/** `npm run test:chaos` goes on for as long as it is told. */
const STEPS = Number(process.env['CHAOS_STEPS'] ?? 10);

test('no answer is wrong while everything moves', { timeout: 0 }, async () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const { counts, failures } = await chaos({
    store: 'embedded',
    seed,
    latest: Date.now(),
    goesOn: (step) => step <= STEPS,
    print: (text) => void process.stderr.write(`\n${text}\n`),
  });
  process.stdout.write(`chaos: ${JSON.stringify({ seed, ...counts })}\n`);
  expect(failures).toEqual([]);
  expect(counts.steps).toBe(STEPS);
  expect(counts.exact).toBeGreaterThan(0);
  expect(counts.notModified).toBeGreaterThan(0);
});
