import fc from 'fast-check';
import { expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { instantsOf } from '../support/generate.ts';
import { at, inOrder } from '../support/generate-ranges.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { expectAgreement } from '../support/oracle/compare.ts';
import { oracleStore } from '../support/oracle/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 1);
const DAYS = 5;
/** Pairs of hours; ranges go from one to the other. */
const PAIRS = 9;
const RANGES = 12;

const on = oracleStore();

/** An instant of the data, one beside it, or any other ms of its hour. */
const endArbitrary = fc.oneof(
  fc.record({ index: fc.nat(), beside: fc.constantFrom(-1, 0, 1) }).map(
    ({ index, beside }) =>
      (_hour: number, instants: readonly number[]) =>
        at(instants, index) + beside,
  ),
  fc.integer({ min: 0, max: HOUR - 1 }).map((offset) => (hour: number) => hour + offset),
);

test.each([1, 2])('ranges that move within their hours stay exact, seed %i', { timeout: 0 }, async (seed) => {
  const traffic = randomTraffic({
    seed,
    from: START,
    apps: 1,
    sessions: 600,
    visitors: 90,
    days: DAYS,
    probes: 0,
  });
  const instants = instantsOf(traffic.batches);
  const hours = fc.sample(fc.tuple(fc.nat(), fc.nat()), { seed, numRuns: PAIRS });
  const probes = hours.flatMap(([a, b], pair) => {
    // The first pairs are an hour with itself, and with the next one.
    const first = hourOf(at(instants, a));
    const second = pair === 0 ? first : pair === 1 ? first + HOUR : hourOf(at(instants, b));
    const within = (hour: number) => {
      const own = instants.filter((instant) => hourOf(instant) === hour);
      return own.length === 0 ? [hour] : own;
    };
    return fc
      .sample(fc.tuple(endArbitrary, endArbitrary), { seed: seed + pair, numRuns: RANGES })
      .map(([from, to]) => ({
        range: inOrder(from(first, within(first)), to(second, within(second))),
        limit: undefined,
      }));
  });
  const asked = await expectAgreement(
    on.subject,
    { ...traffic, probes },
    {
      beforeQuestions: async (subject) => {
        const now = epochMs(START + (DAYS - 1) * DAY + 14 * HOUR);
        await seal({ db: on.store.db, only: subject.apps() }, now);
        return subject;
      },
    },
  );
  expect(asked).toBe(PAIRS * RANGES);
});

const hourOf = (ms: number): number => Math.floor(ms / HOUR) * HOUR;
