import { decimalsOf, type FigureName } from './figures.ts';

/**
 * Returns `numerator / denominator` rounded half up (towards +∞) to `decimals`. Exact: computed with
 * integers, without floats on the way. Returns 0 if the denominator is 0.
 */
export function ratio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0;
  const scale = 10n ** BigInt(decimals);
  const n = BigInt(numerator) * scale * 2n + BigInt(denominator);
  const d = BigInt(denominator) * 2n;
  const floor = n / d - (n % d < 0n ? 1n : 0n);
  return Number(floor) / Number(scale);
}

/** Returns `part / whole`, rounded to the decimals of the figure's unit. */
export const figureOf = (name: FigureName, part: number, whole: number): number =>
  ratio(part, whole, decimalsOf(name));

/** Returns a value that was rounded to `decimals` as an integer number of units of its last decimal. */
export const lastPlaces = (value: number, decimals: number): number => Math.round(value * 10 ** decimals);
