import fc from 'fast-check';
import type { EventsQuestion } from '../../src/analytics/answers/results.ts';
import { INTERVALS, type SeriesQuestion } from '../../src/domain/interval.ts';
import {
  type Condition,
  DIMENSIONS,
  type Dimension,
  HAPPENINGS,
  OPERATORS,
  type Segment,
} from '../../src/domain/segment.ts';
import { EVENT_NAMES, PROPERTY_KEYS, VALUES } from './generate-events.ts';

/** What a question asks, besides its range. */
export interface Asked {
  readonly segment: Segment | null;
  readonly series: SeriesQuestion;
  readonly by: Dimension;
  readonly events: EventsQuestion;
}

/** Values that no session has, and what a statement could stumble over. */
const ABSENT = [
  '',
  '(none)',
  "'",
  '"; DROP TABLE events --',
  '\\',
  "\\'",
  '{x:String}',
  '{app:UUID}',
  '\0',
  'a\0b',
  '\uD83C',
  '\uDF3C',
  '\uFFFD',
  '\u{1F33C}\u{1F33C}',
  '%',
  ';,',
  '_',
  'IR ',
  'ir',
];

/** The whole value, or some of its characters. */
const partOf = (value: string, [from, length]: readonly [number, number]): string => {
  const letters = [...value];
  return letters
    .slice(from % (letters.length + 1))
    .slice(0, length)
    .join('');
};

const valueOfA = (dimension: Condition['dimension']): fc.Arbitrary<string> => {
  const known = fc.constantFrom(...VALUES[dimension]);
  return fc.oneof(
    { weight: 6, arbitrary: known },
    {
      weight: 2,
      arbitrary: fc
        .tuple(known, fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 3 })))
        .map(([value, part]) => partOf(value, part)),
    },
    { weight: 1, arbitrary: fc.constantFrom(...ABSENT) },
  );
};

const conditionArbitrary: fc.Arbitrary<Condition> = fc
  .constantFrom(...DIMENSIONS, ...HAPPENINGS, ...HAPPENINGS, 'visitorType' as const)
  .chain((dimension) =>
    fc.record({
      dimension: fc.constant(dimension),
      operator: fc.constantFrom(...OPERATORS),
      value: valueOfA(dimension),
    }),
  )
  // Only these two can have an empty value.
  .map((condition) =>
    condition.value === '' && !['==', '!='].includes(condition.operator)
      ? { ...condition, operator: '!=' }
      : condition,
  );

/** Segments that match every session. */
export const WHOLE: readonly Segment[] = [
  [[{ dimension: 'visitorType', operator: '=@', value: 'e' }]],
  [
    [{ dimension: 'device', operator: '!=', value: '' }],
    [{ dimension: 'channel', operator: '!@', value: '\u{1F33C}' }],
  ],
  [
    [
      { dimension: 'page', operator: '==', value: '' },
      { dimension: 'page', operator: '!=', value: '' },
    ],
  ],
];

export const segmentArbitrary: fc.Arbitrary<Segment> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.array(conditionArbitrary, { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 2,
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...WHOLE) },
);

/** Zones with half hours, quarters, skipped and doubled hours, a skipped day, changes of half an hour and of two, odd seconds, and none. */
export const ZONES = [
  'UTC',
  'Asia/Tehran',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Antarctica/Troll',
  'Africa/Monrovia',
  'America/St_Johns',
  'America/New_York',
  'Europe/London',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  '+03:30',
  '-00:01',
  '+23:59',
  '-23:59',
];

const word = (words: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...words.filter((each) => each !== ''));

export const askedArbitrary: fc.Arbitrary<Asked> = fc.record({
  segment: fc.option(segmentArbitrary, { nil: null, freq: 2 }),
  series: fc.record({ interval: fc.constantFrom(...INTERVALS), timezone: fc.constantFrom(...ZONES) }),
  by: fc.constantFrom(...DIMENSIONS),
  events: fc.oneof(
    fc.record({
      type: fc.constantFrom('click' as const, 'error' as const, 'custom' as const),
      property: fc.constant(null),
    }),
    fc.record({
      type: fc.constant('custom' as const),
      property: fc.record({
        name: fc.oneof({ weight: 4, arbitrary: word(EVENT_NAMES) }, word(ABSENT)),
        key: fc.oneof({ weight: 4, arbitrary: word(PROPERTY_KEYS) }, word(ABSENT)),
      }),
    }),
  ),
});

/** Spells a segment as a request does, before the encoding of the query. */
export const spelled = (segment: Segment): string =>
  segment
    .map((clause) =>
      clause
        .map(
          ({ dimension, operator, value }) =>
            `${dimension}${operator}${value.replace(/[%;,]/g, encodeURIComponent)}`,
        )
        .join(','),
    )
    .join(';');
