import fc from 'fast-check';
import { expect, test } from 'vitest';
import { first, Ranked, type Ranking } from '../../src/analytics/ranked.ts';
import { forAll } from '../support/random.ts';

interface Row {
  readonly key: string;
  readonly n: number;
}

const RANKING: Ranking<Row> = {
  keyOf: ({ key }) => key,
  add: (a, b) => ({ ...a, n: a.n + b.n }),
  order: (a, b) => b.n - a.n || (a.key < b.key ? -1 : 1),
};

const rows = fc.array(
  fc.record({ key: fc.constantFrom(...'abcdefghij'), n: fc.integer({ min: -3, max: 3 }) }),
);

/** Adds up all rows by key, and sorts them. */
function sorted(all: readonly Row[]): Row[] {
  const sums = new Map<string, number>();
  for (const { key, n } of all) sums.set(key, (sums.get(key) ?? 0) + n);
  return [...sums].map(([key, n]) => ({ key, n })).sort(RANKING.order);
}

test('cached rows and others are added up and sorted, repeatedly', async () => {
  await forAll(
    fc.tuple(rows, fc.array(rows, { maxLength: 3 }), fc.nat(12)),
    ([kept, others, limit]) => {
      const ranked = new Ranked(sorted(kept), RANKING);
      for (const more of others) {
        const expected = sorted([...kept, ...more]);
        expect(ranked.with(more)).toEqual(expected);
        expect(ranked.with(more, first(limit))).toEqual(expected.slice(0, limit));
        const isListed = ({ n }: Row) => n > 0;
        expect(ranked.with(more, { limit, isListed })).toEqual(expected.filter(isListed).slice(0, limit));
      }
      expect(ranked.with([])).toEqual(sorted(kept));
    },
    { runs: 2_000 },
  );
});
