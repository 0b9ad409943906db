import { decimalsOf, type FigureName } from '../../answers/figures.ts';

const { isSafeInteger: isInteger } = Number;

/**
 * Returns `numerator / denominator` rounded half up (towards +∞) to `decimals`. Exact: computed with
 * integers, without rounding on the way. Returns 0 if the denominator is 0.
 */
export function ratio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0;
  const scale = 10 ** decimals;
  const twice = 2 * numerator * scale;
  // Numbers are twenty times as fast as BigInt, and exact up to 2⁵³.
  const isExact =
    isInteger(numerator) && isInteger(denominator) && isInteger(twice) && isInteger(twice + denominator);
  return (
    (isExact ? floorOf(twice + denominator, 2 * denominator) : bigHalfUp(numerator, denominator, scale)) /
    scale
  );
}

/** Returns the greatest integer up to `n / d`. */
function floorOf(n: number, d: number): number {
  const rest = n % d;
  return (n - rest) / d - (rest < 0 ? 1 : 0);
}

function bigHalfUp(numerator: number, denominator: number, scale: number): number {
  const n = BigInt(numerator) * BigInt(scale) * 2n + BigInt(denominator);
  const d = BigInt(denominator) * 2n;
  return Number(n / d - (n % d < 0n ? 1n : 0n));
}

/** Returns `part / whole`, rounded to the decimals of the figure's unit. */
export const figureOf = (name: FigureName, part: number, whole: number): number =>
  ratio(part, whole, decimalsOf(name));

/** Returns a value that was rounded to `decimals` as an integer number of units of its last decimal. */
export const lastPlaces = (value: number, decimals: number): number => Math.round(value * 10 ** decimals);
