import { expect, test } from 'vitest';
import {
  eventsBasis,
  growthBasis,
  kpisBasis,
  overviewBasis,
  sessionsBasis,
} from '../../src/analytics/scopes.ts';
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
