import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { areProperties } from '../../src/ingestion/properties.ts';
import { validateSessions } from '../../src/ingestion/validate.ts';

const NOW = epochMs(Date.parse('2026-11-20T12:00:00.000Z'));
const AT = '2026-11-20T10:00:00Z';

/** Validates one event as it is sent: JSON. */
function check(event: object, json?: string) {
  const text = json ?? JSON.stringify(event);
  const session = { id: 's', visitorId: 'v', startedAt: AT, events: [JSON.parse(text)] };
  const { sessions, rejected } = validateSessions([session], { now: NOW, maxAgeDays: null, userAgent: '' });
  return { properties: sessions[0]?.events[0]?.properties, codes: rejected.map(({ code }) => code) };
}
const custom = (properties: unknown) => ({ type: 'custom', timestamp: AT, path: '/', name: 'n', properties });
const kept = (properties: unknown): unknown => {
  const text = check(custom(properties)).properties;
  return text === undefined || text === '' ? text : JSON.parse(text);
};
const ofJson = (json: string) =>
  check(
    {},
    JSON.stringify(custom('HERE')).replace('"HERE"', () => json),
  );

describe('kept properties', () => {
  test.each([
    ['absent', undefined, ''],
    ['null', null, ''],
    ['none', {}, ''],
    ['texts', { plan: 'pro', 'two words': 'a b' }, { plan: 'pro', 'two words': 'a b' }],
    [
      'numbers and booleans as their JSON text',
      { n: 1.5, t: true, f: false },
      { n: '1.5', t: 'true', f: 'false' },
    ],
    ['a text like a number', { n: '1.0' }, { n: '1.0' }],
    ['minus zero', { n: -0 }, { n: '0' }],
    ['without control characters', { 'a\u0000\u001f\u009fb': 'x\u0000\ny' }, { ab: 'xy' }],
    ['without blanks at the ends, as in names', { ' a\u200b': '\u00a0x y ' }, { a: 'x y' }],
    ['lone surrogates replaced', { 'a\ud800': '\udc00' }, { 'a\ufffd': '\ufffd' }],
    ['4-byte characters', { '🌼': '😀😀' }, { '🌼': '😀😀' }],
    [
      'quotes, backslashes and braces',
      { '"\\{x:String}\'': '\'";\\\\n{}' },
      { '"\\{x:String}\'': '\'";\\\\n{}' },
    ],
    ['empty values are absent', { a: '', b: ' ', c: '\u0000', d: 'x' }, { d: 'x' }],
    ['only empty values', { a: '' }, ''],
    [
      'names of members of every object',
      { constructor: 'x', toString: 'y' },
      { constructor: 'x', toString: 'y' },
    ],
  ])('%s', (_, sent, expected) => {
    expect(kept(sent)).toEqual(expected);
    expect(check(custom(sent)).codes).toEqual([]);
  });

  test('values are cut after 256 code points', () => {
    expect(kept({ a: 'x'.repeat(300), b: '😀'.repeat(300), c: `\u0007${'y'.repeat(256)}` })).toEqual({
      a: 'x'.repeat(256),
      b: '😀'.repeat(256),
      c: 'y'.repeat(256),
    });
  });

  test('keys of 64 code points, and 20 keys', () => {
    const key = '🌼'.repeat(64);
    expect(kept({ [key]: 'x', [`${'k'.repeat(64)}\u0000`]: 'y' })).toEqual({
      [key]: 'x',
      ['k'.repeat(64)]: 'y',
    });
    const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, `${i}`]));
    expect(kept(twenty)).toEqual(twenty);
  });

  test.each([
    ['1.0', '1'],
    ['1e3', '1000'],
    ['0.10', '0.1'],
    ['-0.0', '0'],
    ['1E-7', '1e-7'],
    ['12345678901234567890', '12345678901234567000'],
    ['5e-324', '5e-324'],
  ])('the number %s is %s', (json, text) => {
    expect(ofJson(`{"n":${json}}`).properties).toBe(`{"n":"${text}"}`);
  });

  test('equal properties are one text, in any order of the keys', () => {
    const one = check(custom({ b: 'x', a: 1, 10: true, 9: 'y', '': undefined }));
    const other = check(custom({ 9: 'y', 10: true, a: '1', b: 'x ', c: '' }));
    expect(one.properties).toBe('{"10":"true","9":"y","a":"1","b":"x"}');
    expect(other.properties).toBe(one.properties);
  });

  test('a key __proto__ is a key', () => {
    expect(ofJson('{"__proto__":"x"}').properties).toBe('{"__proto__":"x"}');
  });

  test('of a key that JSON has twice, the last value', () => {
    expect(ofJson('{"a":"x","a":"y"}').properties).toBe('{"a":"y"}');
  });

  test('any texts: the kept form is the cleaned one', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 70 }),
        fc.string({ unit: 'binary' }),
        (key, value) => {
          const clean = (text: string): string => text.replace(/\p{Cc}/gu, '').replace(/\p{Cs}/gu, '\ufffd');
          const [cleanKey, cleanValue] = [`k${clean(key)}k`, `v${clean(value)}v`];
          const fits = [...cleanKey].length <= 64;
          expect(kept({ [`k${key}k`]: `v${value}v` })).toEqual(fits ? { [cleanKey]: cleanValue } : undefined);
        },
      ),
    );
  });
});

describe('an event is rejected alone if', () => {
  test.each([
    ['properties are a text', 'x'],
    ['properties are a list', []],
    ['properties are a number', 1],
    ['properties are a boolean', true],
    ['a value is null', { a: null }],
    ['a value is an object', { a: {} }],
    ['a value is a list', { a: ['x'] }],
    ['there are 21 keys', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, i]))],
    [
      'there are 21 keys, one with an empty value',
      Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, i === 3 ? '' : i])),
    ],
    ['a key is empty', { '': 'x' }],
    ['a key is empty without control characters', { '\u0000': 'x' }],
    ['a key is blank', { ' ': 'x' }],
    ['an empty key has an empty value', { '': '' }],
    ['a key is too long', { ['k'.repeat(65)]: 'x' }],
    ['a key of 4-byte characters is too long', { ['🌼'.repeat(65)]: 'x' }],
    ['two keys are the same without control characters', { a: 'x', 'a\u0001': 'y' }],
    ['two keys are the same, and one value is empty', { a: 'x', 'a\u0001': '' }],
  ])('%s', (_, properties) => {
    expect(check(custom(properties))).toEqual({ properties: undefined, codes: ['invalid_event'] });
  });

  test.each(['1e400', '-1e999'])('a number is %s: not finite', (json) => {
    expect(ofJson(`{"n":${json}}`).codes).toEqual(['invalid_event']);
  });

  test('the reason names the field', () => {
    const session = { id: 's', visitorId: 'v', startedAt: AT, events: [custom({ a: null })] };
    const { rejected } = validateSessions([session], { now: NOW, maxAgeDays: null, userAgent: '' });
    expect(rejected[0]?.message).toBe('properties: a value must be a string, a finite number or a boolean.');
  });
});

test.each(['pageview', 'click', 'error', 'engagement'])('on %s properties are an unknown field', (type) => {
  const event = { type, timestamp: AT, path: '/', message: 'm', durationMs: 1, properties: [null] };
  expect(check(event)).toEqual({ properties: '', codes: [] });
});

test('an archive holds properties in the stored form only', () => {
  for (const text of ['', '{"a":"x"}', '{}']) expect(areProperties(text), text).toBe(true);
  for (const text of ['x', '[]', 'null', '"x"', '{"a":1}', '{"a":null}', '{"a":"x"']) {
    expect(areProperties(text), text).toBe(false);
  }
});
