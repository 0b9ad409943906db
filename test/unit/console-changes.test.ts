import { describe, expect, test } from 'vitest';
import { changeOf, changeOfFigure, moodOf } from '../../src/console/analytics/changes.ts';

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
