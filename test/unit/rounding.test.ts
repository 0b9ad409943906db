import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ratio } from '../../src/analytics/answers/rounding.ts';

/** The definition, in integers of any size. */
function exactly(numerator: number, denominator: number, decimals: number): number {
  const scale = 10n ** BigInt(decimals);
  const n = BigInt(numerator) * scale * 2n + BigInt(denominator);
  const d = BigInt(denominator) * 2n;
  return Number(n / d - (n % d < 0n ? 1n : 0n)) / Number(scale);
}

test.each([
  [1, 2, 0, 1],
  [-1, 2, 0, 0],
  [-3, 2, 0, -1],
  [1, 3, 2, 0.33],
  [2, 3, 2, 0.67],
  [5, 1_000, 2, 0.01],
  [-5, 1_000, 2, 0],
  [7, 0, 2, 0],
  [Number.MAX_SAFE_INTEGER, 1, 2, Number.MAX_SAFE_INTEGER],
])('%i / %i to %i decimals is %d', (numerator, denominator, decimals, expected) => {
  expect(ratio(numerator, denominator, decimals)).toBe(expected);
});

const anySize = (min: number) =>
  fc.oneof(
    fc.integer({ min, max: 1_000 }),
    fc.integer({ min, max: 2 ** 31 - 1 }),
    fc.maxSafeInteger().map((n) => Math.max(n, min)),
  );

test('random fractions of any size are rounded half up', () => {
  fc.assert(
    fc.property(anySize(-(2 ** 31)), anySize(1), fc.nat(4), (numerator, denominator, decimals) => {
      expect(ratio(numerator, denominator, decimals)).toBe(exactly(numerator, denominator, decimals));
    }),
    { numRuns: 20_000 },
  );
});
