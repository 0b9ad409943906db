/** The value below which `share` of the values lie (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export interface Timed<T> {
  readonly ms: number;
  /** Of all the process's threads, the engine's included: what it costs, however busy the machine is. */
  readonly cpuMs: number;
  readonly result: T;
}

/** What `work` takes, and its result. */
export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const before = process.cpuUsage();
  const started = performance.now();
  const result = await work();
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1000, result };
}

/** Two decimals: what timings are good for. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;
