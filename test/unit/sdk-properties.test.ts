import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { readProperties } from '../../src/ingestion/properties.ts';
import { cleanProperties } from '../../src/sdk/properties.ts';
import { forAll } from '../support/random.ts';

const warnings = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
afterEach(() => warnings.mockClear());

/** Letters, and what the service strips, trims or replaces. */
const piece = fc.constantFrom(
  ...['a', 'b', '7', '😀', 'می', '_', ' ', '\t', '\u0000', '\u0085', '\u200b', '\u200c', '\u2800', '\u3164'],
  ...['\ufe0f', '\u00ad', '\ufffd', '\ud800', '\udc00', '\u202e', '\u{e0061}'],
);
const key = fc.oneof(
  fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
  fc
    .integer({ min: 60, max: 70 })
    .chain((length) => fc.constantFrom('k'.repeat(length), '😀'.repeat(length))),
  fc.constantFrom('__proto__', 'constructor', 'toString'),
);
const value = fc.oneof(
  fc.string({ unit: piece, maxLength: 600 }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, undefined, Number.NaN, [1], {}, 1n, Symbol('x'), () => 1),
);
const sent = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.tuple(key, value), { maxLength: 40 }).map(Object.fromEntries) },
  fc.constantFrom(undefined, null, ['a'], 'text', 7, true, () => 1, new Map([['a', 1]]), new Date(0)),
);

test('the service takes what is left of any properties, whatever a page passes', async () => {
  await forAll(
    sent,
    (properties) => {
      const clean = cleanProperties(properties);
      expect(readProperties(JSON.parse(JSON.stringify({ clean })).clean)).toEqual(expect.any(String));
    },
    { runs: 3_000 },
  );
});

test('names that people write are kept', () => {
  const names = [
    'plan',
    'first name',
    'a-b',
    'a_b',
    'ab',
    '7',
    '$',
    'می‌خرم',
    'größe',
    '名前',
    '😀',
    'k'.repeat(64),
  ];
  const properties = Object.fromEntries(names.map((name, i) => [name, i]));
  expect(cleanProperties(properties)).toEqual(properties);
  expect(warnings).not.toHaveBeenCalled();
});
