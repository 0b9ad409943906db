import fc from 'fast-check';
import type { Bounds } from './oracle/questions.ts';
import { tehranDayStart, tehranHourStart, tehranTime } from './oracle/tehran.ts';

const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Takes a case's instants (never empty) and returns one bound. */
export type Edge = (instants: readonly number[]) => number | null;

/** Bases of a range's bound: an instant of the data, or the start of its hour or day. */
export const GROUNDS: readonly ((at: number) => number)[] = [
  (at) => at,
  (at) => Math.floor(at / HOUR) * HOUR,
  (at) => Math.floor(at / DAY) * DAY,
  (at) => tehranHourStart(at),
  (at) => tehranDayStart(tehranTime(at).date),
];

/** The first and the last instant of a request, and some that make the period before a range begin before 1970. */
const FIRST = 0;
const LAST = Date.UTC(2300, 0, 1) - 1;
const FAR = [FIRST, FIRST + 1, HOUR, Date.UTC(1998, 0, 1), 10 ** 12, Date.UTC(2034, 0, 1), LAST - 1, LAST];

/** The nearest instant that a request can name. */
const asked = (at: number): number => Math.min(Math.max(at, FIRST), LAST);

/**
 * A bound of a range: on, 1 ms before or after an instant of the data, an hour or a midnight; beyond all
 * data; far away; or open.
 */
export function edgeArbitrary(): fc.Arbitrary<Edge> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(() => null) },
    { weight: 1, arbitrary: fc.constantFrom(...FAR).map((far) => () => far) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(-1, 0, 1, HOUR, DAY)
        .map((beside) => (instants: readonly number[]) => asked(at(instants, instants.length - 1) + beside)),
    },
    {
      weight: 5,
      arbitrary: fc
        .record({
          ground: fc.constantFrom(...GROUNDS),
          index: fc.nat({ max: 500 }),
          beside: fc.constantFrom(0, -1, 1),
          away: fc.oneof(
            { weight: 4, arbitrary: fc.constant(0) },
            { weight: 1, arbitrary: fc.constantFrom(-DAY, -HOUR, HOUR, DAY, 3 * DAY) },
          ),
        })
        .map(({ ground, index, beside, away }): Edge => {
          return (instants) => asked(ground(at(instants, index)) + away + beside);
        }),
    },
  );
}

/** Orders two bounds. */
export const inOrder = (a: number | null, b: number | null): Bounds =>
  a !== null && b !== null && a > b ? { from: b, to: a } : { from: a, to: b };

/** A moment on or near the data, or some days later. */
export function momentArbitrary(): fc.Arbitrary<(instants: readonly number[]) => number> {
  return fc
    .record({
      index: fc.nat({ max: 500 }),
      days: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 30 })),
      beside: fc.oneof(fc.constantFrom(0, -1, 1), fc.integer({ min: 0, max: 2 * HOUR })),
    })
    .map(
      ({ index, days, beside }) =>
        (instants) =>
          asked(at(instants, index) + days * DAY + beside),
    );
}

/** Wraps around, so that an index stays valid while a list shrinks. */
export function at<Item>(list: readonly Item[], index: number): Item {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('an empty list');
  return item;
}
