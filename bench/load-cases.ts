import type { Recording } from './recording.ts';
import type { Case } from './result/schema.ts';
import type { Outcome } from './tally.ts';

type Which = Pick<Case, 'bench' | 'name'> & Partial<Pick<Case, 'labels' | 'exact'>>;

/**
 * Records an open loop: the rate at which requests were due, the answers in each second, all latencies, and the
 * percentiles of each second.
 */
export function recordLoad(recording: Recording, which: Which, rate: number, outcome: Outcome): void {
  const { perSecond, p50Ms, p99Ms, histogram } = outcome;
  const perTime = { ...which, unit: 'requests/s' as const, better: null };
  recording.record({ ...perTime, measure: 'rate', runs: [rate] });
  recording.record({ ...perTime, measure: 'answered', runs: [...perSecond] });
  recording.record({ ...which, measure: 'latency', unit: 'ms', runs: [...p50Ms], histogram });
  recording.record({ ...which, measure: 'p99 of each second', unit: 'ms', runs: [...p99Ms] });
}
