import { expect, test } from 'vitest';
import { chaos } from '../chaos/run.ts';
import { byChance } from '../support/chance.ts';

/**
 * Steps of a short run; `npm run test:chaos` sets the number. Over the bridge a step takes three times as
 * long.
 */
const STEPS = { embedded: 3, bridge: 1 };

test.each(['embedded', 'bridge'] as const)(
  'no answer is wrong while everything moves: %s',
  { timeout: 0 },
  async (store) => {
    const steps = Number(process.env['CHAOS_STEPS'] ?? STEPS[store]);
    const seed = byChance(1_000_000);
    const { counts, failures } = await chaos({
      store,
      seed,
      latest: Date.now(),
      goesOn: (step) => step <= steps,
      print: (text) => void process.stderr.write(`\n${text}\n`),
    });
    process.stdout.write(`chaos: ${JSON.stringify({ store, seed, ...counts })}\n`);
    expect(failures).toEqual([]);
    expect(counts.steps).toBe(steps);
    expect(counts.exact).toBeGreaterThan(0);
    expect(counts.notModified).toBeGreaterThan(0);
  },
);
