import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pointsIn } from '../../src/analytics/range/calendar.ts';
import { INTERVALS } from '../../src/domain/interval.ts';
import { epochMs } from '../../src/domain/time.ts';
import { zoneOf } from '../../src/domain/zone.ts';
import { ZONES } from '../support/generate-segments.ts';
import { unitAt } from '../support/oracle/calendar.ts';
import { iso } from '../support/oracle/questions.ts';
import { forAll } from '../support/random.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Around changes of clocks. */
const CHANGES = [
  '1970-01-01T00:00:00Z',
  '1972-01-07T00:44:30Z',
  '1994-12-31T10:00:00Z',
  '1995-01-01T10:00:00Z',
  '2010-11-07T02:31:00Z',
  '2011-12-30T10:00:00Z',
  '2022-03-21T20:30:00Z',
  '2022-09-21T19:30:00Z',
  '2026-03-29T01:00:00Z',
  '2026-04-04T15:00:00Z',
  '2026-10-03T15:30:00Z',
  '2026-11-01T06:00:00Z',
].map((text) => Date.parse(text));

const zoneArbitrary = fc.oneof(
  fc.constantFrom(...ZONES),
  fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
);
const instantArbitrary = fc.oneof(
  fc
    .tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -3 * DAY, max: 3 * DAY }))
    .map(([at, beside]) => Math.max(at + beside, 0)),
  fc.integer({ min: 0, max: Date.UTC(2300, 0, 1) - 1 }),
);

test('points are those of the oracle', { timeout: 0 }, async () => {
  await forAll(
    fc.record({
      interval: fc.constantFrom(...INTERVALS),
      timezone: zoneArbitrary,
      from: instantArbitrary,
      count: fc.integer({ min: 1, max: 12 }),
    }),
    ({ interval, timezone, from, count }) => {
      const question = { interval, timezone };
      const expected: string[] = [];
      let [next, to] = [from, from];
      while (expected.length < count) {
        const unit = unitAt(question, next);
        expected.push(iso(unit.start));
        to = next;
        next = unit.end;
      }
      const points = pointsIn(question, { from: epochMs(from), to: epochMs(to) });
      expect(points.map(iso)).toEqual([...expected, iso(next)]);
    },
    { runs: 300 },
  );
});

test('no more than 4,000 points', () => {
  const hours = (count: number) => () =>
    pointsIn({ interval: 'hour', timezone: 'UTC' }, { from: epochMs(0), to: epochMs(count * HOUR - 1) });
  expect(hours(4_000)()).toHaveLength(4_001);
  const message = 'The range holds more than 4000 points; at most 4000 are listed.';
  expect(hours(4_001)).toThrow(expect.objectContaining({ errors: [{ field: 'from', message }] }));
});

test.each([
  'UTC',
  'utc',
  'Asia/Tehran',
  'asia/tehran',
  'Asia/Calcutta',
  'America/Argentina/Buenos_Aires',
  'Etc/GMT+5',
  'EST5EDT',
  'Japan',
  '+03:30',
  '-00:00',
  '+23:59',
])('%s is a zone', (name) => {
  expect(zoneOf(name)).not.toBeNull();
});

test.each([
  '',
  'Tehran',
  'Mars/Olympus',
  'IST',
  'PST',
  'ACT',
  'SystemV/AST4',
  'Etc/Unknown',
  '+3:30',
  '+0330',
  '+03',
  '+24:00',
  '+03:60',
  '3:30',
  ' 03:30',
  'UTC+3',
  'Asia/Tehran ',
  'Asia/Tehran\0',
])('%j is none', (name) => {
  expect(zoneOf(name)).toBeNull();
});
