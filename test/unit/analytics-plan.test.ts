import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Plan, plan, planReturns } from '../../src/analytics/range/plan.ts';
import { eventsIn, inGrains } from '../../src/analytics/range/sql.ts';
import { epochMs, type Span } from '../../src/domain/time.ts';
import { forAll } from '../support/random.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2024, 0, 15);
const SEALED = epochMs(START + 400 * 24 * HOUR);

/** On hours, days and months, a ms beside them, or anywhere within two years. */
const instantArbitrary = fc.oneof(
  fc
    .tuple(fc.integer({ min: 0, max: 730 * 24 }), fc.constantFrom(-1, 0, 1))
    .map(([hours, beside]) => START + hours * HOUR + beside),
  fc
    .tuple(fc.integer({ min: 0, max: 24 }), fc.constantFrom(-1, 0, 1, HOUR))
    .map(([month, beside]) => Date.UTC(2024, month, 1) + beside),
  fc.integer({ min: 0, max: 730 * DAY }).map((ms) => START + ms),
);

const rangeArbitrary = fc
  .tuple(instantArbitrary, instantArbitrary)
  .map(([a, b]) => ({ from: epochMs(Math.min(a, b)), to: epochMs(Math.max(a, b)) }));

const watermarkArbitrary = fc.oneof(
  fc.constant(epochMs(0)),
  fc.integer({ min: -24, max: 735 * 24 }).map((hours) => epochMs(START + hours * HOUR)),
);

const DAYS = { hour: 1 / 24, day: 1, day4: 4, day16: 16, day64: 64, day256: 256 };

const pieces = ({ left, buckets, right, tail }: Plan): Span[] =>
  [
    ...[left, right, tail].flatMap((range) =>
      range ? [{ start: range.from as number, end: range.to + 1 }] : [],
    ),
    ...buckets,
  ].sort((a, b) => a.start - b.start);

test('the pieces are disjoint and make up exactly the range', async () => {
  await forAll(
    fc.tuple(rangeArbitrary, watermarkArbitrary),
    ([range, watermark]) => {
      const parts = pieces(plan(range, watermark));
      expect(parts[0]?.start).toBe(range.from);
      expect(parts.at(-1)?.end).toBe(range.to + 1);
      parts.slice(1).forEach((part, i) => {
        expect(part.start).toBe(parts[i]?.end);
      });
      for (const { start, end } of parts) expect(end).toBeGreaterThan(start);
    },
    { runs: 5_000 },
  );
});

test('facts answer whole buckets below the watermark, raw rows less than an hour at each end and the unsealed part', async () => {
  await forAll(
    fc.tuple(rangeArbitrary, watermarkArbitrary),
    ([range, watermark]) => {
      const { left, right, tail, buckets, sealed } = plan(range, watermark);
      for (const { grain, start, end } of buckets) {
        expect([start % (DAYS[grain] * DAY), end % (DAYS[grain] * DAY)]).toEqual([0, 0]);
        expect(end).toBeLessThanOrEqual(watermark);
      }
      for (const edge of [left, right]) {
        if (edge !== null) expect(edge.to - edge.from + 1).toBeLessThan(HOUR);
      }
      if (tail !== null) expect(tail.from).toBeGreaterThanOrEqual(watermark);
      expect(buckets.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(sealed.end - sealed.start);
    },
    { runs: 5_000 },
  );
});

test('a handful of buckets of each grain is enough', async () => {
  await forAll(
    rangeArbitrary,
    (range) => {
      const { buckets } = plan(range, epochMs(Date.UTC(2040, 0, 1)));
      for (const { grain, start, end } of buckets) {
        const most = { hour: 24, day: 4, day4: 4, day16: 4, day64: 4, day256: 100 }[grain];
        expect((end - start) / (DAYS[grain] * DAY)).toBeLessThanOrEqual(2 * most);
      }
    },
    { runs: 2_000 },
  );
});

/** How often the plan counts a session with this start and prev. */
function counted(pieces: Plan, started: number, prev: number): number {
  const returns = planReturns(pieces);
  const inSpan = ({ start, end: stop }: Span, at: number) => start <= at && at < stop;
  const floor = (at: number, unit: number) => Math.floor(at / unit) * unit;
  const [startDay, prevDay] = [floor(started, DAY), floor(prev, DAY)];
  return [
    inSpan(returns.days, startDay) && prevDay >= returns.days.start,
    inSpan(returns.byPrev, prev) && started < returns.hoursEnd,
    inSpan(returns.byStart, started) && prev >= returns.prevFrom,
  ].filter(Boolean).length;
}

test('a returning session is counted once, if it and the one before it are in the whole hours of the range', async () => {
  const near = fc.integer({ min: 0, max: 4 * DAY }).map((ms) => START + ms);
  const at = fc.oneof(
    near,
    fc.integer({ min: 0, max: 96 }).map((hours) => START + hours * HOUR),
    // Within an hour of each other.
    fc.integer({ min: 0, max: HOUR }).map((ms) => START + 2 * DAY + ms),
  );
  const sealed = fc.oneof(
    fc.constant(START + 400 * DAY),
    fc.integer({ min: 0, max: 96 }).map((hours) => START + hours * HOUR),
  );
  await forAll(
    fc.tuple(at, at, at, at, sealed),
    ([a, b, c, d, watermark]) => {
      const range = { from: epochMs(Math.min(a, b)), to: epochMs(Math.max(a, b)) };
      const [prev, started] = [Math.min(c, d), Math.max(c, d)];
      const pieces = plan(range, epochMs(watermark));
      const within = started < pieces.sealed.end && prev >= pieces.sealed.start;
      expect(counted(pieces, started, prev)).toBe(within ? 1 : 0);
    },
    { runs: 30_000 },
  );
});

test('the part between the edges is the same for any ms of the same two hours, except the one that completes an hour', async () => {
  const at = fc.integer({ min: 0, max: 40 * DAY });
  await forAll(
    fc.tuple(at, at, fc.integer({ min: 1, max: HOUR - 2 })),
    ([a, b, ms]) => {
      fc.pre(Math.abs(a - b) >= 2 * HOUR);
      const [from, to] = [START + Math.min(a, b), START + Math.max(a, b)].map(
        (each) => Math.floor(each / HOUR) * HOUR,
      );
      const at = (start: number) =>
        plan({ from: epochMs((from ?? 0) + start), to: epochMs((to ?? 0) + start) }, SEALED);
      const [some, other] = [at(1), at(ms)];
      expect(other.buckets).toEqual(some.buckets);
      expect(planReturns(other)).toEqual(planReturns(some));
    },
    { runs: 5_000 },
  );
});

test('bounds beyond the range of buckets are no buckets', () => {
  const before = plan(
    { from: epochMs(Date.UTC(1950, 0, 1)), to: epochMs(Date.UTC(1970, 0, 3) - 1) },
    epochMs(Date.UTC(2200, 0, 1)),
  );
  const listed = inGrains([before]);
  expect(listed).not.toMatch(/-\d/);
  const after = plan(
    { from: epochMs(Date.UTC(2150, 0, 1)), to: epochMs(Date.UTC(2150, 0, 3) - 1) },
    epochMs(Date.UTC(2200, 0, 1)),
  );
  expect(inGrains([after])).toBe('false');
  expect(eventsIn([{ from: epochMs(-5), to: epochMs(Date.UTC(2299, 0, 1)) }])).toContain(' >= 0 AND ');
});
