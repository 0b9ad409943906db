import type { Clock } from '../domain/time.ts';

/**
 * Gives the version of a row's next state: microseconds, higher than every one given here before (two writes in
 * one millisecond keep their order) and than `previous`, the version that was read (another process's clock may
 * be ahead).
 */
export type NextVersion = (previous?: number) => number;

export function monotonicVersions(clock: Clock): NextVersion {
  let last = 0;
  return (previous = 0) => {
    last = Math.max(clock() * 1000, last + 1, previous + 1);
    return last;
  };
}
