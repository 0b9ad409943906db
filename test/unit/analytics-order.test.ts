import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byText, descending, firstOf, inOrder } from '../../src/analytics/answers/order.ts';

type Row = readonly [count: number, name: string];
const byCount = (a: Row, b: Row): number => descending(a[0], b[0]) || byText(a[1], b[1]);
/** Many rows have equal counts, and some are equal. */
const rowsArbitrary = fc.array(
  fc.tuple(fc.nat({ max: 4 }), fc.oneof(fc.constantFrom('a', 'b', '\ue000', '😀'), fc.string())),
  { maxLength: 200 },
);

test('texts are in the order of their UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(Math.sign(byText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('the first rows are those of the sorted list', () => {
  fc.assert(
    fc.property(rowsArbitrary, fc.nat({ max: 250 }), (rows, count) => {
      expect(firstOf(rows, count, byCount)).toEqual([...rows].sort(byCount).slice(0, count));
    }),
  );
});

test('two lists in order become one', () => {
  fc.assert(
    fc.property(rowsArbitrary, rowsArbitrary, (some, others) => {
      const sorted = (rows: readonly Row[]): Row[] => [...rows].sort(byCount);
      expect(inOrder(sorted(some), sorted(others), byCount)).toEqual(sorted([...some, ...others]));
    }),
  );
});
