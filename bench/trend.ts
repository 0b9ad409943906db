/** How a series changes with time, and how sure that is. All are changes per unit of time. */
export interface Trend {
  /** The median of the slopes between all pairs of points (Theil and Sen). Single outliers do not move it. */
  readonly slope: number;
  /** The interval that holds the true slope in 99 of 100 series. */
  readonly low: number;
  readonly high: number;
}

export type Verdict = 'within noise' | 'rises' | 'falls' | 'too few stretches';

/** With fewer points, no series is ever outside of the noise. */
const LEAST = 8;
/** The 99.5th percentile of the normal distribution: 0.5 % on either side. */
const Z = 2.5758;
const MOST_ALIKE = 0.95;

/**
 * Returns the trend of points `[time, value]`; null if there are too few. Neighbouring measurements resemble each
 * other (a cache that is full stays full for a while), so they count as fewer: the variance is the one of the
 * Mann-Kendall test with ties, corrected for autocorrelation (Yue and Wang 2004).
 */
export function trendOf(points: readonly (readonly [number, number])[]): Trend | null {
  const n = points.length;
  if (n < LEAST) return null;
  const slopes = points
    .flatMap(([at, value], i) => points.slice(i + 1).map(([later, other]) => (other - value) / (later - at)))
    .sort((a, b) => a - b);
  const slope = middleOf(slopes);
  const rest = ranksOf(points.map(([at, value]) => value - slope * at));
  const deviation = Math.sqrt(varianceOf(points.map(([, value]) => value)) * likeness(rest));
  const low = Math.round((slopes.length - Z * deviation) / 2) - 1;
  const high = Math.round((slopes.length + Z * deviation) / 2);
  const at = (index: number): number => slopes[Math.max(0, Math.min(slopes.length - 1, index))] ?? slope;
  return { slope, low: at(low), high: at(high) };
}

/** `allowed`: a slope that has a known and harmless cause. */
export function verdictOf(trend: Trend | null, allowed = 0): Verdict {
  if (trend === null) return 'too few stretches';
  if (trend.low > allowed) return 'rises';
  return trend.high < 0 ? 'falls' : 'within noise';
}

function middleOf(sorted: readonly number[]): number {
  const half = sorted.length / 2;
  const [a = Number.NaN, b = a] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (a + b) / 2;
}

/** The variance of the number of rising pairs minus falling pairs, by chance alone. */
function varianceOf(values: readonly number[]): number {
  const n = values.length;
  const sizes = [...new Set(values)].map((value) => values.filter((other) => other === value).length);
  const part = (size: number): number => size * (size - 1) * (2 * size + 5);
  return (part(n) - sizes.reduce((sum, size) => sum + part(size), 0)) / 18;
}

/**
 * By how much the variance grows because each value resembles the one before it. At least 1. The correlation of a
 * short series without its trend comes out too small, on average by (1 + 4r) / n.
 */
function likeness(values: readonly number[]): number {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const spread = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (spread === 0) return 1;
  const product = values
    .slice(1)
    .reduce((sum, value, i) => sum + (value - mean) * ((values[i] ?? mean) - mean), 0);
  const correlation = (n * (product / spread) + 1) / (n - 4);
  const r = Math.min(MOST_ALIKE, Math.max(0, correlation));
  return (1 + r) / (1 - r);
}

function ranksOf(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal + 1) / 2;
  });
}
