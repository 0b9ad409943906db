import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Ranked, type Ranking } from '../../src/analytics/memory/ranked.ts';
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

/** More than are found without sorting all. */
const MANY = 1_000;

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
        const sums = ranked.with(more);
        expect(sums.first({ limit: MANY, isListed: () => true })).toEqual(expected);
        expect(sums.first({ limit, isListed: () => true })).toEqual(expected.slice(0, limit));
        const isListed = ({ n }: Row) => n > 0;
        expect(sums.first({ limit, isListed })).toEqual(expected.filter(isListed).slice(0, limit));
        expect(sums.first({ limit: MANY, isListed })).toEqual(expected.filter(isListed));
        expect(sums.total(({ n }) => n)).toBe(expected.reduce((sum, { n }) => sum + n, 0));
        expect(sums.total((row) => (isListed(row) ? 1 : 0))).toBe(expected.filter(isListed).length);
      }
      expect(ranked.with([]).first({ limit: MANY, isListed: () => true })).toEqual(sorted(kept));
    },
    { runs: 2_000 },
  );
});
