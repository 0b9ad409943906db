/** The value below which `share` of the values lie (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

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
