/** The value below which `share` of the values lie (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The number of runs from which on a percentile is not simply the largest run: 100 for the 99th. */
export const runsFor = (share: number): number => Math.ceil(1 / (1 - share) - 1e-9);

/** The runs that two series need each, so that a difference can be told from chance. */
export const COMPARABLE_RUNS = 4;

export interface Timed<T> {
  readonly ms: number;
  /** CPU time of all the process's threads, including the engine's. It does not depend on other load. */
  readonly cpuMs: number;
  readonly result: T;
}

/** Runs `work` and returns its result and its times. */
export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const before = process.cpuUsage();
  const started = performance.now();
  const result = await work();
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1000, result };
}

/** Rounds to two decimals, the precision of timings. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

/**
 * The probability that a difference as large as that between `a` and `b`, or a larger one, is chance: the two-sided
 * Mann-Whitney test with its normal approximation, corrected for ties and continuity. 1 if all values are equal.
 */
export function chanceOf(a: readonly number[], b: readonly number[]): number {
  const all = [
    ...a.map((value) => ({ value, ofA: true })),
    ...b.map((value) => ({ value, ofA: false })),
  ].sort((one, other) => one.value - other.value);
  let rankSum = 0;
  let ties = 0;
  for (let start = 0; start < all.length; ) {
    let end = start;
    while (end < all.length && all[end]?.value === all[start]?.value) end++;
    const size = end - start;
    const rank = (start + 1 + end) / 2;
    rankSum += rank * all.slice(start, end).filter(({ ofA }) => ofA).length;
    ties += size ** 3 - size;
    start = end;
  }
  const n = a.length + b.length;
  const mean = (a.length * (n + 1)) / 2;
  const variance = ((a.length * b.length) / 12) * (n + 1 - ties / (n * (n - 1)));
  if (!(variance > 0)) return 1;
  const z = Math.max(0, Math.abs(rankSum - mean) - 0.5) / Math.sqrt(variance);
  return 2 * (1 - normal(z));
}

/** The distribution function of the normal distribution for z ≥ 0 (Abramowitz and Stegun 26.2.17, error < 1e-7). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}

const RESAMPLES = 2_000;

/** The interval that holds the ratio of the medians, b by a, in 95 of 100 bootstrap samples. Equal runs give it again. */
export function ratioInterval(a: readonly number[], b: readonly number[]): readonly [number, number] {
  let state = 0x9e3779b9;
  /** Mulberry32: the same numbers in every run. */
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const resampled = (runs: readonly number[]): number =>
    median(runs.map(() => runs[Math.floor(random() * runs.length)] ?? Number.NaN));
  const ratios = Array.from({ length: RESAMPLES }, () => resampled(b) / resampled(a));
  return [percentile(ratios, 0.025), percentile(ratios, 0.975)];
}
