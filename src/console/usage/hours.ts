import type { Answer } from '../api.ts';

export type KeyUsage = Answer<'GET /usage'>['keys'][number];
export type Hour = KeyUsage['hours'][number];

/** The hours of several keys, added up. */
export function added(keys: readonly (readonly Hour[])[]): readonly Hour[] {
  const [first = [], ...others] = keys;
  return first.map((hour, i) =>
    others.reduce(
      (sum, hours) => ({
        hour: sum.hour,
        requests: sum.requests + (hours[i]?.requests ?? 0),
        limited: sum.limited + (hours[i]?.limited ?? 0),
      }),
      hour,
    ),
  );
}

export interface KeyTotals {
  readonly requests: number;
  readonly limited: number;
  /** The requests of the busiest hour; null without any. */
  readonly busiest: Hour | null;
}

export function totalsOf(hours: readonly Hour[]): KeyTotals {
  const busiest = hours.reduce<Hour | null>(
    (most, hour) => (hour.requests > (most?.requests ?? 0) ? hour : most),
    null,
  );
  return {
    requests: hours.reduce((sum, { requests }) => sum + requests, 0),
    limited: hours.reduce((sum, { limited }) => sum + limited, 0),
    busiest,
  };
}
