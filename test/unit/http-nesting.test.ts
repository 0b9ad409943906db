import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNestedDeeper } from '../../src/http/gate/nesting.ts';
import { forAll } from '../support/random.ts';

const isDeep = (json: string, levels: number): boolean => isNestedDeeper(Buffer.from(json), levels);

/** The number of levels of a value, counted without its text. */
const levelsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0;

test('levels of any JSON, whatever its texts hold', async () => {
  const text = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', 'u', 'é', '٣', '\u2028') });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, text, fc.nat(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  }));
  await forAll(
    value,
    (any) => {
      const [json, levels] = [JSON.stringify(any), levelsOf(any)];
      expect(isDeep(json, levels)).toBe(false);
      if (levels > 0) expect(isDeep(json, levels - 1)).toBe(true);
    },
    { runs: 1_000 },
  );
});

test('texts that are no JSON', () => {
  expect(isDeep('[['.repeat(1_000), 64)).toBe(true);
  expect(isDeep(`${']'.repeat(1_000)}[]`, 64)).toBe(false);
  expect(isDeep(`"${'['.repeat(1_000)}`, 64)).toBe(false);
  expect(isDeep('"\\', 64)).toBe(false);
  expect(isDeep('', 64)).toBe(false);
});
