import { describe, expect, test } from 'vitest';
import { DEFAULT_VIEW, WHOLE_IDS } from '../../src/console/analytics/view/view.ts';
import { columnsOf, nextOrder, orderOf, sorted } from '../../src/console/analytics/whole/sort.ts';
import { allWhole, wholeIn, wholeOf } from '../../src/console/analytics/whole/whole-lists.ts';

describe('whole lists', () => {
  test('every list has a whole form, under its own id', () => {
    expect(allWhole().map(({ id }) => id)).toEqual(WHOLE_IDS);
    expect(new Set(WHOLE_IDS).size).toBe(WHOLE_IDS.length);
    // The first ten of the overview are no whole list.
    expect(allWhole().filter(({ question }) => question === 'getExtendedOverview')).toEqual([]);
  });

  test('an event and a property lead to the values of the property', () => {
    const view = { ...DEFAULT_VIEW, list: 'customEvents', event: 'signup' } as const;
    expect(wholeIn(view)).toBe(wholeOf('customEvents'));
    expect(wholeIn({ ...view, property: 'plan' })).toMatchObject({
      question: 'listEvents',
      asks: { type: 'custom', name: 'signup', property: 'plan' },
      by: [],
    });
  });
});

describe('the order of a whole list', () => {
  const list = wholeOf('targets');
  const row = (name: string | null, count: number, before?: number | null) => ({
    names: [name],
    values: [count, 0, 0],
    ...(before === undefined ? {} : { before: [before, null, null] }),
  });
  const words = {
    name: ({ names }: { names: readonly (string | null)[] }) => names[0] ?? null,
    locale: 'fa-IR',
  };
  const namesBy = (sort: string, rows: ReturnType<typeof row>[]) =>
    sorted(rows, list, orderOf(sort, columnsOf(list, true)), words).map(({ names }) => names[0]);

  test('numbers by size, names as the language sorts them, what is absent last in both directions', () => {
    const rows = [row('پ', 9), row(null, 50), row('ب', 100), row('گ', 9), row('a10', 1), row('a9', 1)];
    expect(namesBy('', rows)).toEqual(rows.map(({ names }) => names[0]));
    expect(namesBy('-eventCount', rows)).toEqual(['ب', null, 'پ', 'گ', 'a10', 'a9']);
    expect(namesBy('eventCount', rows)).toEqual(['a10', 'a9', 'پ', 'گ', null, 'ب']);
    const [up, down] = [namesBy('name', rows), namesBy('-name', rows)];
    expect([up.at(-1), down.at(-1)]).toEqual([null, null]);
    expect(up.slice(0, -1)).toEqual(down.slice(0, -1).toReversed());
    const inPersian = up.filter((name) => name !== null && name !== undefined && name > 'z');
    expect(inPersian).toEqual(['ب', 'پ', 'گ']);
    expect(up.indexOf('a9')).toBeLessThan(up.indexOf('a10'));
  });

  test('by the change: new rows are the largest, and what is not known is last', () => {
    const rows = [
      row('half', 1, 2),
      row('new', 3, 0),
      row('cut', 9, null),
      row('double', 4, 2),
      row('none', 0, 0),
    ];
    expect(namesBy('-change', rows)).toEqual(['new', 'double', 'none', 'half', 'cut']);
    expect(namesBy('change', rows)).toEqual(['half', 'none', 'double', 'new', 'cut']);
    expect(namesBy('-before', rows)).toEqual(['half', 'double', 'new', 'none', 'cut']);
  });

  test('a click sorts numbers from the largest and names from the first; another click turns that', () => {
    expect(nextOrder('eventCount', null, false)).toBe('-eventCount');
    expect(nextOrder('eventCount', orderOf('-eventCount', ['eventCount']), false)).toBe('eventCount');
    expect(nextOrder('name', orderOf('-eventCount', ['eventCount']), true)).toBe('name');
    expect(orderOf('-mass', columnsOf(list, false))).toBeNull();
    expect(orderOf('change', columnsOf(list, false))).toBeNull();
  });
});
