import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  alike,
  filtersOf,
  filterValue,
  isWrong,
  negated,
  segmentOf,
  withValue,
} from '../../src/console/analytics/view/filters.ts';
import { searchOf, viewOf } from '../../src/console/analytics/view/view.ts';

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
