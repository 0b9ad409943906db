import { domainToASCII, domainToUnicode } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Series } from '../../src/client/index.ts';
import { changeOf, changeOfFigure, moodOf } from '../../src/console/analytics/changes.ts';
import { curlOf } from '../../src/console/analytics/curl.ts';
import { compared, keyOf, listOf, mostRows, rowsOf } from '../../src/console/analytics/lists.ts';
import { csvOfList } from '../../src/console/analytics/panels/list-csv.ts';
import { besides, type Moment, momentsOf } from '../../src/console/analytics/series.ts';
import { AGAINST, periodAgainst } from '../../src/console/analytics/view/against.ts';
import { csvOf, daysOf, fileNameOf } from '../../src/console/analytics/view/csv.ts';
import {
  alike,
  filtersOf,
  filterValue,
  isWrong,
  negated,
  segmentOf,
  withValue,
} from '../../src/console/analytics/view/filters.ts';
import { cutsOf, INTERVALS, intervalOf, intervalsOf } from '../../src/console/analytics/view/interval.ts';
import {
  isLive,
  type Minutes,
  minutesOf,
  PRESETS,
  paramsOf,
  type Range,
  rangeOf,
  rangeProblem,
} from '../../src/console/analytics/view/range.ts';
import {
  DEFAULT_VIEW,
  GROWTH_METRICS,
  HOUR_METRICS,
  MAP_FRAMES,
  searchOf,
  TABS,
  type View,
  viewOf,
} from '../../src/console/analytics/view/view.ts';
import {
  DAY_MS,
  dayStart,
  HOUR_MS,
  hourStart,
  instantOf,
  type WallMinute,
  wallAt,
  wallMinute,
  type Zone,
} from '../../src/console/analytics/view/zone.ts';
import { labelEvery } from '../../src/console/chart/labels.ts';
import { frameOf } from '../../src/console/chart/places.ts';
import { monthOf, weekdayOf } from '../../src/console/parts/calendar.ts';
import { folded, readableHost, readablePath } from '../../src/console/parts/readable.ts';

/** With changed clocks, with half an hour, and behind UTC. */
const ZONES: readonly Zone[] = ['UTC', 'Asia/Tehran', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'];

const at = (text: string): number => Date.parse(text);
const minute = (text: string): WallMinute => {
  const found = wallMinute(text);
  if (found === null) throw new Error(text);
  return found;
};
/** Friday, 15:30 in Tehran. */
const NOON = at('2026-11-20T12:00:00Z');

describe('times in a zone', () => {
  test('Tehran is 3:30 ahead; in the summers until 2022 it was 4:30', () => {
    expect(wallAt(NOON, 'Asia/Tehran')).toBe('2026-11-20T15:30');
    expect(instantOf(minute('2026-07-01T00:00'), 'Asia/Tehran')).toBe(at('2026-06-30T20:30:00Z'));
    expect(instantOf(minute('2021-07-01T00:00'), 'Asia/Tehran')).toBe(at('2021-06-30T19:30:00Z'));
    expect(wallAt(at('2021-06-30T19:30:00Z'), 'Asia/Tehran')).toBe('2021-07-01T00:00');
  });

  test('a minute goes to an instant and back', () => {
    const minutes = fc.integer({
      min: at('2016-01-01T00:00Z') / 60_000,
      max: at('2035-01-01T00:00Z') / 60_000,
    });
    fc.assert(
      fc.property(minutes, fc.constantFrom<Zone>(...ZONES), (number, zone) => {
        const wall = wallAt(number * 60_000, zone);
        const back = wallAt(instantOf(wall, zone), zone);
        expect(back).toBe(wall);
      }),
    );
  });

  test('days and hours begin where the clocks of the zone say', () => {
    expect(dayStart(NOON, 'UTC')).toBe(at('2026-11-20T00:00Z'));
    expect(dayStart(at('2026-11-20T21:00Z'), 'Asia/Tehran')).toBe(at('2026-11-20T20:30Z'));
    expect(dayStart(NOON, 'Asia/Tehran', -1)).toBe(at('2026-11-18T20:30Z'));
    expect(hourStart(NOON, 'UTC')).toBe(NOON);
    expect(hourStart(NOON, 'Asia/Tehran')).toBe(NOON - HOUR_MS / 2);
    // Clocks went forward at this midnight: the day begins at 01:00.
    expect(dayStart(at('2021-03-22T12:00Z'), 'Asia/Tehran')).toBe(at('2021-03-21T20:30Z'));
    expect(dayStart(at('2021-03-21T12:00Z'), 'Asia/Tehran', 1)).toBe(at('2021-03-21T20:30Z'));
  });

  test.each(['', '2026-11-20', '2026-02-30T00:00', '2026-11-20T24:00', '2026-11-20T10:00Z'])(
    '%j is no minute',
    (text) => expect(wallMinute(text)).toBeNull(),
  );
});

describe('ranges', () => {
  test.each([
    ['today', 'UTC', '2026-11-20T00:00:00.000Z', '2026-11-20T23:59:59.999Z'],
    ['today', 'Asia/Tehran', '2026-11-19T20:30:00.000Z', '2026-11-20T20:29:59.999Z'],
    ['yesterday', 'UTC', '2026-11-19T00:00:00.000Z', '2026-11-19T23:59:59.999Z'],
    ['24h', 'UTC', '2026-11-19T13:00:00.000Z', '2026-11-20T12:59:59.999Z'],
    ['24h', 'Asia/Tehran', '2026-11-19T12:30:00.000Z', '2026-11-20T12:29:59.999Z'],
    ['7d', 'UTC', '2026-11-14T00:00:00.000Z', '2026-11-20T23:59:59.999Z'],
    ['28d', 'Asia/Tehran', '2026-10-23T20:30:00.000Z', '2026-11-20T20:29:59.999Z'],
    ['365d', 'UTC', '2025-11-21T00:00:00.000Z', '2026-11-20T23:59:59.999Z'],
  ] as const)('%s in %s', (preset, zone, from, to) => {
    expect(paramsOf(rangeOf(preset, zone, NOON))).toEqual({ from, to });
  });

  test('two minutes are both inclusive', () => {
    const choice = { from: minute('2026-11-20T10:00'), to: minute('2026-11-20T10:00') };
    expect(paramsOf(rangeOf(choice, 'Asia/Tehran', NOON))).toEqual({
      from: '2026-11-20T06:30:00.000Z',
      to: '2026-11-20T06:30:59.999Z',
    });
  });

  /** The bounds of the period to compare with, without seconds. */
  const against = (range: Range, choice: Partial<Parameters<typeof periodAgainst>[1]>, now = NOON) => {
    const period = periodAgainst(range, { ...DEFAULT_VIEW, ...choice }, now);
    if (period === null) return null;
    expect((period.to + 1) % 60_000).toBe(0);
    return [period.from, period.to + 1].map((each) => new Date(each).toISOString().slice(0, 16));
  };

  test('the period before is as long; of a range that is not over as much as has passed', () => {
    expect(against(rangeOf('yesterday', 'UTC', NOON), {})).toEqual(['2026-11-18T00:00', '2026-11-19T00:00']);
    expect(against(rangeOf('today', 'UTC', NOON), {})).toEqual(['2026-11-19T00:00', '2026-11-19T12:00']);
    expect(against(rangeOf('7d', 'UTC', NOON), {})).toEqual(['2026-11-07T00:00', '2026-11-13T12:00']);
    expect(against(rangeOf('24h', 'UTC', NOON), {})).toEqual(['2026-11-18T13:00', '2026-11-19T12:00']);
    // In the first minute there is one minute to compare.
    const midnight = at('2026-11-20T00:00:10Z');
    expect(against(rangeOf('today', 'UTC', midnight), {}, midnight)).toEqual([
      '2026-11-19T00:00',
      '2026-11-19T00:01',
    ]);
  });

  test('the day before a change of the clocks is compared by the clock', () => {
    const now = at('2026-10-26T11:00Z');
    const berlin = { zone: 'Europe/Berlin' };
    // Sunday had 25 hours. Monday noon stands beside Sunday noon.
    expect(against(rangeOf('today', 'Europe/Berlin', now), berlin, now)).toEqual([
      '2026-10-24T22:00',
      '2026-10-25T11:00',
    ]);
  });

  test('a week with a change of the clocks is compared with the week before', () => {
    const newYork = { zone: 'America/New_York' };
    const now = at('2026-11-06T15:00Z');
    const week = { from: minute('2026-10-30T00:00'), to: minute('2026-11-05T23:59') };
    const bounds = ['2026-10-23T04:00', '2026-10-30T04:00'];
    for (const kind of ['weekday', 'previous'] as const) {
      expect(against(rangeOf(week, newYork.zone, now), { ...newYork, against: kind }, now)).toEqual(bounds);
    }
  });

  test('a day that begins at 01:00 is a day', () => {
    const cairo = { zone: 'Africa/Cairo' };
    const now = at('2026-06-01T12:00Z');
    const days = (from: string, to: string, kind: (typeof AGAINST)[number]) =>
      against(
        rangeOf({ from: minute(`${from}T00:00`), to: minute(`${to}T23:59`) }, cairo.zone, now),
        { ...cairo, against: kind },
        now,
      );
    // Clocks went forward at the midnight of 24 April.
    expect(days('2026-04-24', '2026-04-24', 'previous')).toEqual(['2026-04-22T22:00', '2026-04-23T22:00']);
    expect(days('2026-04-24', '2026-04-24', 'weekday')).toEqual(['2026-04-16T22:00', '2026-04-17T22:00']);
    expect(days('2026-04-24', '2026-04-24', 'year')).toEqual(['2025-04-23T22:00', '2025-04-24T22:00']);
    expect(days('2026-04-25', '2026-04-25', 'previous')).toEqual(['2026-04-23T22:00', '2026-04-24T21:00']);
    expect(days('2026-04-17', '2026-04-23', 'weekday')).toEqual(['2026-04-09T22:00', '2026-04-16T22:00']);
    expect(days('2026-04-24', '2026-04-30', 'previous')).toEqual(['2026-04-16T22:00', '2026-04-23T22:00']);
  });

  test('the same weekdays, the year before, a period of one’s own, or none', () => {
    const today = rangeOf('today', 'UTC', NOON);
    expect(against(today, { against: 'weekday' })).toEqual(['2026-11-13T00:00', '2026-11-13T12:00']);
    expect(against(rangeOf('28d', 'UTC', NOON), { against: 'weekday' })?.[0]).toBe('2026-09-26T00:00');
    expect(against(rangeOf('90d', 'UTC', NOON), { against: 'weekday' })?.[0]).toBe('2026-05-24T00:00');
    expect(against(today, { against: 'year' })).toEqual(['2025-11-20T00:00', '2025-11-20T12:00']);
    const leap = at('2024-02-29T12:00Z');
    expect(against(rangeOf('today', 'UTC', leap), { against: 'year' }, leap)?.[0]).toBe('2023-02-28T00:00');
    const againstMinutes = { from: minute('2026-11-02T00:00'), to: minute('2026-11-02T23:59') };
    const custom = { against: 'custom', againstMinutes } as const;
    expect(against(today, custom)).toEqual(['2026-11-02T00:00', '2026-11-02T12:00']);
    expect(against(rangeOf('7d', 'UTC', NOON), custom)).toEqual(['2026-11-02T00:00', '2026-11-03T00:00']);
    expect(against(today, { against: 'none' })).toBeNull();
  });

  test('a range is live while now is in it', () => {
    for (const preset of PRESETS)
      expect(isLive(rangeOf(preset, 'UTC', NOON), NOON)).toBe(preset !== 'yesterday');
    const coming = { from: minute('2026-12-01T00:00'), to: minute('2026-12-02T00:00') };
    expect(isLive(rangeOf(coming, 'UTC', NOON), NOON)).toBe(false);
  });

  test('the days of data are whole, and at most those that can be shown', () => {
    expect(minutesOf(at('2026-11-18T21:00Z'), NOON, 'Asia/Tehran')).toEqual({
      from: '2026-11-19T00:00',
      to: '2026-11-20T23:59',
    });
    for (const zone of ZONES) {
      const most = minutesOf(at('1999-01-01T00:00Z'), NOON, zone);
      expect([most.to, rangeProblem(most)]).toEqual(['2026-11-20T23:59', null]);
    }
  });

  test('reversed and endless ranges are told apart', () => {
    const problem = (from: string, to: string) => rangeProblem({ from: minute(from), to: minute(to) });
    expect(problem('2026-11-20T10:01', '2026-11-20T10:00')).toBe('reversed');
    expect(problem('2010-01-01T00:00', '2026-11-20T10:00')).toBe('long');
    expect(problem('2026-11-20T10:00', '2026-11-20T10:00')).toBeNull();
  });
});

describe('the address', () => {
  const choices = fc.oneof(
    fc.constantFrom(...PRESETS),
    fc
      .tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 0, max: 1_000_000 }))
      .map((pair): Minutes => {
        const [from = 0, to = 0] = pair.sort((a, b) => a - b);
        const of = (minutes: number) => wallAt(at('2024-01-01T00:00Z') + minutes * 60_000, 'UTC');
        return { from: of(from), to: of(to) };
      }),
  );
  const views: fc.Arbitrary<View> = fc.record({
    choice: choices,
    zone: fc.constantFrom<Zone>(...ZONES),
    against: fc.constantFrom(...AGAINST.filter((each) => each !== 'custom')),
    againstMinutes: fc.constant(null),
    isCompared: fc.boolean(),
    growth: fc.constantFrom(...GROWTH_METRICS),
    interval: fc.constantFrom(null, ...INTERVALS),
    hours: fc.constantFrom(...HOUR_METRICS),
    tabs: fc.record({
      pages: fc.constantFrom(...TABS.pages),
      sources: fc.constantFrom(...TABS.sources),
      places: fc.constantFrom(...TABS.places),
      technology: fc.constantFrom(...TABS.technology),
      interaction: fc.constantFrom(...TABS.interaction),
    }),
    map: fc.constantFrom(...MAP_FRAMES),
    segment: fc.constantFrom('', 'country==IR;device!=mobile', 'page==/a%3Bb,page==/%25;browser=='),
    find: fc.string({ maxLength: 50 }),
  });

  test('holds the whole view', () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(viewOf(searchOf(view))).toEqual(view);
      }),
    );
  });

  test('is short for what most people see, and readable for a link', () => {
    expect(searchOf(DEFAULT_VIEW)).toBe('?zone=utc');
    const choice = { from: minute('2026-11-20T10:00'), to: minute('2026-11-20T11:30') };
    expect(searchOf({ ...DEFAULT_VIEW, choice, zone: 'Asia/Tehran', isCompared: true })).toBe(
      '?from=2026-11-20T10:00&to=2026-11-20T11:30&zone=tehran&compare=1',
    );
  });

  test.each([
    '?range=forever&zone=mars&compare=yes&growth=money&pages=none',
    '?from=2026-11-20T10:00',
    '?from=2026-11-20T10:00&to=2026-11-19T10:00',
    '?from=yesterday&to=today',
  ])('%s counts as the default', (search) => expect(viewOf(search)).toEqual(DEFAULT_VIEW));
});

describe('filters', () => {
  test('a segment that is wrong stays in the view, for the service to refuse', () => {
    for (const wrong of ['country', 'country==IR;', ';', 'page==%']) {
      expect(isWrong(wrong)).toBe(true);
      const view = viewOf(`?segment=${encodeURIComponent(wrong)}`);
      expect(view.segment).toBe(wrong);
      expect(viewOf(searchOf(view)).segment).toBe(wrong);
    }
    expect([isWrong(''), isWrong('country==IR')]).toEqual([false, false]);
  });

  test('conditions of one kind and operator are named together, others on their own', () => {
    const [filter = []] = filtersOf('country==IR,city!=Rome,country==DE,country!=FR');
    expect(alike(filter).map((group) => segmentOf([group]))).toEqual([
      'country==IR,country==DE',
      'city!=Rome',
      'country!=FR',
    ]);
  });

  test('an absent name filters sessions; nothing is filtered by the absent name of an event', () => {
    expect([filterValue('country', null), filterValue('source', '(none)'), filterValue('page', '/')]).toEqual(
      ['', '', '/'],
    );
    for (const by of ['page', 'event', 'target', 'error'] as const)
      expect(filterValue(by, '(none)')).toBeNull();
  });

  const filters = filtersOf('country==IR,country==DE;page=@/blog');

  test('are a segment of the API, whatever their values hold', () => {
    expect(filters).toHaveLength(2);
    expect(segmentOf(filters)).toBe('country==IR,country==DE;page=@/blog');
    fc.assert(
      fc.property(fc.string(), (value) => {
        const segment = segmentOf(withValue(filters, 'campaign', value));
        expect(filtersOf(segment).at(-1)).toEqual([{ by: 'campaign', operator: '==', value }]);
      }),
    );
    for (const wrong of ['country', 'country==IR;', ';', 'page==%']) expect(filtersOf(wrong)).toEqual([]);
  });

  test('another value of the same kind is another possibility; the opposite of several is none of them', () => {
    expect(segmentOf(withValue(filters, 'country', 'FR'))).toBe(
      'country==IR,country==DE,country==FR;page=@/blog',
    );
    expect(withValue(filters, 'country', 'DE')).toBe(filters);
    expect(segmentOf(withValue(filters, 'browser', ''))).toBe(
      'country==IR,country==DE;page=@/blog;browser==',
    );
    expect(segmentOf(negated(filters, 0))).toBe('country!=IR;country!=DE;page=@/blog');
    expect(segmentOf(negated(filters, 1))).toBe('country==IR,country==DE;page!@/blog');
  });
});

describe('units of a chart', () => {
  test('a short range by hour, others by day; the chosen one if the range has room for it', () => {
    const unit = (preset: (typeof PRESETS)[number]) => intervalOf(rangeOf(preset, 'UTC', NOON), null);
    expect([unit('today'), unit('24h'), unit('7d'), unit('365d')]).toEqual(['hour', 'hour', 'day', 'day']);
    const today = rangeOf('today', 'UTC', NOON);
    expect(intervalsOf(today)).toEqual(['hour']);
    expect(intervalOf(today, 'month')).toBe('hour');
    const year = rangeOf('365d', 'UTC', NOON);
    expect(intervalsOf(year)).toEqual(['day', 'week', 'month']);
    expect([intervalOf(year, 'month'), intervalOf(year, 'hour')]).toEqual(['month', 'day']);
  });

  test('units that are cut, or not over yet', () => {
    const cuts = (
      preset: (typeof PRESETS)[number],
      zone: Zone,
      interval: (typeof INTERVALS)[number] = 'day',
    ) => cutsOf(rangeOf(preset, zone, NOON), interval, zone, NOON);
    expect(cuts('7d', 'UTC')).toEqual({ first: false, last: true });
    expect(cuts('7d', 'Asia/Tehran')).toEqual({ first: false, last: true });
    expect(cuts('yesterday', 'Asia/Tehran')).toEqual({ first: false, last: false });
    expect(cuts('24h', 'UTC')).toEqual({ first: true, last: true });
    // The 14th is a Saturday.
    expect(cuts('7d', 'UTC', 'week')).toEqual({ first: true, last: true });
    const october = { from: minute('2026-10-01T00:00'), to: minute('2026-10-31T23:59') };
    for (const zone of ZONES) {
      expect(cutsOf(rangeOf(october, zone, NOON), 'month', zone, NOON)).toEqual({
        first: false,
        last: false,
      });
    }
  });

  /** The days at which units begin, and those of the other period beside them. */
  const beside = (
    current: readonly [Range, ...string[]],
    other: readonly [Range, ...string[]],
    interval: (typeof INTERVALS)[number],
    now = NOON,
  ) => {
    const course = ([range, ...starts]: readonly [Range, ...string[]]) => ({
      range,
      moments: starts.map((start): Moment => ({ at: at(`${start}Z`), values: null })),
    });
    const found = besides(course(current), course(other), { interval, zone: 'UTC', now });
    return found.map((moment) =>
      moment === undefined ? null : new Date(moment.at).toISOString().slice(0, 16),
    );
  };
  const span = (from: string, to: string): Range => ({ from: at(`${from}Z`), to: at(`${to}Z`) - 1 });

  test('whole units stand beside whole ones; a part stands beside the same part alone', () => {
    // From a Monday on, 16 days; before that from a Saturday on.
    const weeks = ['2026-10-05T00:00', '2026-10-12T00:00', '2026-10-19T00:00'] as const;
    const earlier = ['2026-09-14T00:00', '2026-09-21T00:00', '2026-09-28T00:00'] as const;
    expect(
      beside(
        [span('2026-10-05T00:00', '2026-10-21T00:00'), ...weeks],
        [span('2026-09-19T00:00', '2026-10-05T00:00'), ...earlier],
        'week',
      ),
    ).toEqual(['2026-09-21T00:00', '2026-09-28T00:00', null]);
    expect(
      beside(
        [span('2026-09-19T00:00', '2026-10-05T00:00'), ...earlier],
        [span('2026-10-05T00:00', '2026-10-21T00:00'), ...weeks],
        'week',
      ),
    ).toEqual([null, '2026-10-05T00:00', '2026-10-12T00:00']);
    // November against the 30 days before it, which are no month.
    expect(
      beside(
        [span('2026-11-01T00:00', '2026-12-01T00:00'), '2026-11-01T00:00'],
        [span('2026-10-02T00:00', '2026-11-01T00:00'), '2026-10-01T00:00'],
        'month',
        at('2026-12-05T00:00Z'),
      ),
    ).toEqual([null]);
  });

  test('today so far stands beside as much of another day', () => {
    const days = ['2026-11-18T00:00', '2026-11-19T00:00', '2026-11-20T00:00'] as const;
    const earlier = ['2026-11-15T00:00', '2026-11-16T00:00', '2026-11-17T00:00'] as const;
    const range = span('2026-11-18T00:00', '2026-11-21T00:00');
    const now = NOON + 20_000;
    expect(
      beside([range, ...days], [span('2026-11-15T00:00', '2026-11-17T12:00'), ...earlier], 'day', now),
    ).toEqual([...earlier]);
    expect(
      beside([range, ...days], [span('2026-11-15T00:00', '2026-11-17T09:00'), ...earlier], 'day', now),
    ).toEqual([earlier[0], earlier[1], null]);
    // Both begin at 10:00.
    expect(
      beside(
        [span('2026-11-18T10:00', '2026-11-20T00:00'), days[0], days[1]],
        [span('2026-11-15T10:00', '2026-11-17T00:00'), earlier[0], earlier[1]],
        'day',
      ),
    ).toEqual([earlier[0], earlier[1]]);
  });

  test('times to come have no value, nor have those before the first session', () => {
    const figures = { sessions: 1 } as Series['points'][number];
    const points = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21'].map((date) => ({
      ...figures,
      start: `${date}T00:00:00.000Z`,
    }));
    const series: Series = { interval: 'day', timezone: 'UTC', points };
    const known = momentsOf(series, NOON, at('2026-11-19T23:00Z')).map(({ values }) => values !== null);
    expect(known).toEqual([false, true, true, false]);
  });
});

describe('changes', () => {
  test('in percent; new without a value before; unknown without one at all', () => {
    expect(changeOf(150, 100)).toEqual({ kind: 'percent', percent: 50 });
    expect(changeOf(0, 0)).toEqual({ kind: 'percent', percent: 0 });
    expect(changeOf(3, 0)).toEqual({ kind: 'new' });
    expect(changeOf(3, null)).toEqual({ kind: 'unknown' });
  });

  test('of a share in points; of a period without sessions not known', () => {
    const change = (figure: string, values: readonly [number, number], before = 5) =>
      changeOfFigure(figure, { values, sessions: [3, before] });
    expect(change('bounceRate', [0.3012, 0.25])).toEqual({ kind: 'points', points: 5.12 });
    expect(change('bounceRate', [0.1, 0], 0)).toEqual({ kind: 'unknown' });
    expect(change('pagesPerSession', [2, 0], 0)).toEqual({ kind: 'unknown' });
    expect(change('pagesPerSession', [3, 2])).toEqual({ kind: 'percent', percent: 50 });
    expect(change('sessions', [3, 0], 0)).toEqual({ kind: 'new' });
    expect(moodOf('bounceRate', { kind: 'points', points: 2 })).toBe('bad');
    expect(moodOf('bounceRate', { kind: 'points', points: 0.04 })).toBe('even');
  });

  test('more sessions are good, more errors are not', () => {
    expect(moodOf('sessions', changeOf(2, 1))).toBe('good');
    expect(moodOf('sessions', changeOf(1, 2))).toBe('bad');
    expect(moodOf('errors', changeOf(2, 1))).toBe('bad');
    expect(moodOf('bounceRate', changeOf(0.1, 0.2))).toBe('good');
    expect(moodOf('errorCount', changeOf(1, 0))).toBe('bad');
    expect(moodOf('sessions', changeOf(1000, 1000))).toBe('even');
    expect(moodOf('sessions', changeOf(1, null))).toBe('even');
  });
});

describe('CSV', () => {
  test('quotes texts, leaves null empty, and defuses formulas', () => {
    expect(
      csvOf(
        ['path', 'views'],
        [
          ['/a "b", c', 2],
          [null, 0.5],
          ['=HYPERLINK("x")', 1],
          ['-1', -1],
          ['@a', 0],
          ['+1', 0],
        ],
      ),
    ).toBe(
      [
        '"path","views"',
        '"/a ""b"", c",2',
        ',0.5',
        '"\'=HYPERLINK(""x"")",1',
        '"\'-1",-1',
        '"\'@a",0',
        '"\'+1",0',
        '',
      ].join('\r\n'),
    );
  });

  test('a file has the name of the app, and the days', () => {
    const days = daysOf(rangeOf('7d', 'Asia/Tehran', NOON), 'Asia/Tehran');
    expect(fileNameOf(' Web / shop: ../1', 'pages', days)).toBe('Web-shop-1_pages_2026-11-14_2026-11-20');
    expect(fileNameOf('فروشگاه من', 'pages', daysOf(rangeOf('today', 'UTC', NOON), 'UTC'))).toBe(
      'فروشگاه-من_pages_2026-11-20',
    );
    expect(fileNameOf('', 'growth', daysOf(rangeOf('24h', 'UTC', NOON), 'UTC'))).toBe(
      'growth_2026-11-19T1300_2026-11-20T1259',
    );
  });

  test('the columns have the names of the answers', () => {
    const head = (id: 'campaigns' | 'targets' | 'errors') => csvOfList(listOf(id), [], false).trim();
    expect(head('campaigns')).toMatch(/"content","sessions","visitors"$/);
    expect(head('targets')).toBe('"target","clicks"');
    expect(head('errors')).toBe('"message","count","sessions"');
  });

  test('a list of places has its coordinates; a comparison its values before', () => {
    const list = listOf('locations');
    const rows = rowsOf(list, [
      { country: 'IR', region: null, city: 'Tehran', latitude: 35.7, longitude: 51.4, count: 3 },
    ]);
    expect(csvOfList(list, rows, false)).toBe(
      '"city","region","country","latitude","longitude","sessions"\r\n"Tehran",,"IR",35.7,51.4,3\r\n',
    );
    const pages = listOf('pages');
    const listed = compared(rowsOf(pages, [{ path: '/', views: 2, uniqueSessions: 1 }]), [], 10);
    expect(csvOfList(pages, listed, true)).toBe(
      '"path","views","uniqueSessions","previous_views","previous_uniqueSessions"\r\n"/",2,1,0,0\r\n',
    );
  });
});

describe('lists', () => {
  test('a row that is absent before was 0, unless the list before was cut', () => {
    const list = listOf('campaigns');
    const row = (source: string, sessions: number) => ({
      source,
      medium: null,
      campaign: null,
      term: null,
      content: null,
      sessions,
      visitors: 1,
    });
    const rows = rowsOf(list, [row('a', 5), row('b', 4)]);
    const before = rowsOf(list, [row('b', 7)]);
    expect(compared(rows, before, 100).map((each) => each.before)).toEqual([
      [0, 0],
      [7, 1],
    ]);
    expect(compared(rows, before, 1).map((each) => each.before)).toEqual([
      [null, null],
      [7, 1],
    ]);
    expect(new Set(rows.map(keyOf)).size).toBe(2);
    expect([mostRows(list, 500), mostRows(listOf('pages'), 500), mostRows(listOf('errors'), 500)]).toEqual([
      100, 500, 10,
    ]);
  });

  test('every tab is a list', () => {
    for (const id of Object.values(TABS).flat()) expect(listOf(id).id).toBe(id);
  });
});

test('the call of the API is a line to paste', () => {
  const params = {
    appId: '5f0c6a52-3f0e-4c39-9d7e-0a4b7f3f7a10',
    from: '2026-11-14T00:00:00.000Z',
    to: undefined,
  };
  expect(curlOf('https://a.example', 'listPageviews', params)).toBe(
    `curl -s -H "Authorization: Bearer $KEY" 'https://a.example/api/v1/sessions/pageviews?appId=5f0c6a52-3f0e-4c39-9d7e-0a4b7f3f7a10&from=2026-11-14T00:00:00.000Z'`,
  );
});

test('labels of an axis do not touch', () => {
  expect(labelEvery(7, 700, 64)).toBe(1);
  expect(labelEvery(28, 280, 64)).toBe(7);
  expect(labelEvery(5, 0, 64)).toBe(320);
});

test('the map shows the part of the world with most visits', () => {
  const place = (longitude: number, latitude: number, value: number) => ({
    key: '',
    longitude,
    latitude,
    value,
  });
  expect(frameOf([])).toBeNull();
  const frame = frameOf([place(51, 35, 90), place(52, 32, 5), place(-118, 34, 5)]);
  expect(frame).toEqual({ west: 44, east: 58, south: 30.5, north: 39.5 });
});

describe('texts of the web', () => {
  test('paths are decoded where that says the same', () => {
    expect(readablePath('/%D8%B3%D9%84%D8%A7%D9%85/x%20y')).toBe('/سلام/x y');
    // A slash, a percent sign and an override of the direction would mean something else; the last one is no UTF-8.
    for (const path of ['/a%2Fb', '/100%25', '/%E2%80%AE', '/%FF%C3']) expect(readablePath(path)).toBe(path);
  });

  test('hosts in punycode are those of Node', () => {
    const letters = fc.constantFrom(...'abcxyzابپتثجچ۱۲üñéλж漢字한'.split(''));
    const labels = fc.array(letters, { minLength: 1, maxLength: 20 }).map((all) => all.join(''));
    fc.assert(
      fc.property(labels, (label) => {
        const ascii = domainToASCII(`${label}.example`);
        if (ascii !== '') expect(readableHost(ascii)).toBe(domainToUnicode(ascii));
      }),
    );
    expect(readableHost('https://xn--mgbab0oc.ir:8443')).toBe(
      `https://${domainToUnicode('xn--mgbab0oc.ir')}:8443`,
    );
    for (const host of ['xn--', 'xn--999999999', 'xn--a_b']) expect(readableHost(host)).toBe(host);
  });

  test('letters and digits that people take for the same are the same', () => {
    for (const [one, other] of [
      ['كتابي', 'کتابی'],
      ['می‌روم', 'میروم'],
      ['۱۴۰۵', '1405'],
      ['٣', '۳'],
      ['Straße', 'STRASSE'.replace('SS', 'ß')],
      ['أحمد', 'احمد'],
    ]) {
      expect(folded(one ?? '')).toBe(folded(other ?? ''));
    }
  });
});

test('months of the Solar Hijri calendar follow each other, with 29 to 31 days', () => {
  const first = at('2020-01-01') / DAY_MS;
  let month = monthOf(first, 'persian');
  for (let i = 0; i < 200; i++) {
    expect([29, 30, 31]).toContain(month.length);
    const next = monthOf(month.first + month.length, 'persian');
    expect(next.first).toBe(month.first + month.length);
    expect(monthOf(next.first - 1, 'persian')).toEqual(month);
    month = next;
  }
  expect(weekdayOf(at('2026-11-29') / DAY_MS)).toBe(7);
});
