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

/** Rates and shares: 4 decimals. */
export const rate = (part: number, whole: number): number => ratio(part, whole, 4);
/** Ratios per session: 2 decimals. */
export const perSession = (count: number, sessions: number): number => ratio(count, sessions, 2);
/** Averages of milliseconds: whole ms. */
export const averageMs = (total: number, count: number): number => ratio(total, count, 0);

/** A value that was rounded to `decimals`, as the integer number of its last place. */
export const lastPlaces = (value: number, decimals: number): number => Math.round(value * 10 ** decimals);
