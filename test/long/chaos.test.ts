import { expect, test } from 'vitest';
import { chaos } from '../chaos/run.ts';

/** `npm run test:chaos` goes on for as long as it is told. */
const STEPS = Number(process.env['CHAOS_STEPS'] ?? 10);

test.each(['embedded', 'bridge'] as const)(
  'no answer is wrong while everything moves: %s',
  { timeout: 0 },
  async (store) => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const { counts, failures } = await chaos({
      store,
      seed,
      latest: Date.now(),
      goesOn: (step) => step <= STEPS,
      print: (text) => void process.stderr.write(`\n${text}\n`),
    });
    process.stdout.write(`chaos: ${JSON.stringify({ store, seed, ...counts })}\n`);
    expect(failures).toEqual([]);
    expect(counts.steps).toBe(STEPS);
    expect(counts.exact).toBeGreaterThan(0);
    expect(counts.notModified).toBeGreaterThan(0);
  },
);
