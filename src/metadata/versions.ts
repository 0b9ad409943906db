import type { Clock } from '../domain/time.ts';

/**
 * Returns the version of a row's next state, in microseconds. It is higher than every earlier one of this
 * process, so two writes in one millisecond keep their order. It is also higher than `previous`, the version
 * that was read, because another process's clock may be ahead.
 */
export type NextVersion = (previous?: number) => number;

export function monotonicVersions(clock: Clock): NextVersion {
  let last = 0;
  return (previous = 0) => {
    last = Math.max(clock() * 1000, last + 1, previous + 1);
    return last;
  };
}
