import { expect, test } from 'vitest';
import {
  basisOf,
  eventsBasis,
  growthBasis,
  kpisBasis,
  overviewBasis,
  sessionsBasis,
} from '../../src/analytics/scopes.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { epochMs } from '../../src/domain/time.ts';

test('the end of a basis is that of the range of events, also if the scope goes on to the end of its day', () => {
  const to = epochMs(Date.UTC(2026, 10, 20, 10, 30));
  const from = epochMs(to - 86_400_000);
  for (const basis of [
    eventsBasis({ from, to }),
    overviewBasis({ from: null, to }),
    kpisBasis({ from, to }),
    growthBasis({ from, to }),
    growthBasis({ from: null, to }),
  ]) {
    expect(basis.end).toBe(to);
  }
  expect(growthBasis({ from: null, to }).scope.events?.to).toBe(Date.UTC(2026, 10, 21) - 1);
  expect(sessionsBasis({ from, to }).end).toBeNull();
});

test('with a segment, an answer depends on whole sessions; with a type of visitors, on all earlier ones', () => {
  const [from, to] = [epochMs(Date.UTC(2026, 10, 19)), epochMs(Date.UTC(2026, 10, 20, 10, 30))];
  const before = epochMs(from - 86_400_000);
  const country: Segment = [[{ dimension: 'country', operator: '==', value: 'IR' }]];
  const newcomers: Segment = [...country, [{ dimension: 'visitorType', operator: '==', value: 'new' }]];
  const range = { from, to };
  expect(basisOf(eventsBasis(range), null)).toEqual(eventsBasis(range));
  expect(basisOf(eventsBasis(range), country)).toEqual({
    ...eventsBasis(range),
    scope: { events: range, sessions: { from: before, to } },
  });
  expect(basisOf(sessionsBasis(range), country)).toEqual(sessionsBasis(range));
  expect(basisOf(sessionsBasis(range), newcomers).scope.sessions).toEqual({ from: 0, to });
  expect(basisOf(overviewBasis(range), country)).toEqual(overviewBasis(range));
  expect(basisOf(kpisBasis(range), country).scope.sessions?.to).toBe(to);
});
