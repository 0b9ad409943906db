import { decimalsOf, type FigureName } from './figures.ts';

/**
 * `numerator / denominator` rounded half up (towards +∞) to `decimals`, exactly: integers in, no float on the way.
 * An average, rate or ratio of nothing (denominator 0) is 0.
 */
export function ratio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0;
  const scale = 10n ** BigInt(decimals);
  const n = BigInt(numerator) * scale * 2n + BigInt(denominator);
  const d = BigInt(denominator) * 2n;
  const floor = n / d - (n % d < 0n ? 1n : 0n);
  return Number(floor) / Number(scale);
}

/** The figure as `part / whole`, rounded as its unit is. */
export const figureOf = (name: FigureName, part: number, whole: number): number =>
  ratio(part, whole, decimalsOf(name));

/** A value that was rounded to `decimals`, as the integer number of its last place. */
export const lastPlaces = (value: number, decimals: number): number => Math.round(value * 10 ** decimals);
