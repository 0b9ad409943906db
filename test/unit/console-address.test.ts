import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGAINST } from '../../src/console/analytics/view/against.ts';
import { INTERVALS } from '../../src/console/analytics/view/interval.ts';
import { type Minutes, PRESETS } from '../../src/console/analytics/view/range.ts';
import {
  DEFAULT_VIEW,
  GROWTH_METRICS,
  HOUR_METRICS,
  MAP_FRAMES,
  searchOf,
  TABS,
  type View,
  viewOf,
  WHOLE_IDS,
} from '../../src/console/analytics/view/view.ts';
import { wallAt, type Zone } from '../../src/console/analytics/view/zone.ts';
import { at, minute, ZONES } from './console-times.ts';

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
  const whole = fc.oneof(
    fc.constant({ list: null, sort: '', event: '', property: '' }),
    fc.record({
      list: fc.constantFrom(...WHOLE_IDS.filter((each) => each !== 'customEvents')),
      sort: fc.constantFrom('', 'name', '-sessionsListed'),
      event: fc.constant(''),
      property: fc.constant(''),
    }),
    fc.record({
      list: fc.constant('customEvents' as const),
      sort: fc.constantFrom('', '-eventCount'),
      event: fc.string({ minLength: 1, maxLength: 20 }),
      property: fc.string({ maxLength: 20 }),
    }),
  );
  const panels = fc.record({
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
  const views: fc.Arbitrary<View> = fc.tuple(panels, whole).map(([some, more]) => ({ ...some, ...more }));

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
    '?list=planets&sort=name&event=signup&property=plan',
    '?sort=-share&event=signup',
  ])('%s counts as the default', (search) => expect(viewOf(search)).toEqual(DEFAULT_VIEW));
});
