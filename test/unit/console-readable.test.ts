import { domainToASCII, domainToUnicode } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { folded, readableHost, readablePath } from '../../src/console/parts/readable.ts';

describe('texts of the web', () => {
  test('paths are decoded where that says the same', () => {
    expect(readablePath('/%D8%B3%D9%84%D8%A7%D9%85/x%20y')).toBe('/سلام/x y');
    // A slash, a percent sign and an override of the direction would mean something else; the last one is no UTF-8.
    for (const path of ['/a%2Fb', '/100%25', '/%E2%80%AE', '/%FF%C3']) expect(readablePath(path)).toBe(path);
  });

  test('hosts in punycode are those of Node', () => {
    const letters = fc.constantFrom(...'abcxyzابپتثجچ۱۲üñéλж漢字한'.split(''));
    const labels = fc.array(letters, { minLength: 1, maxLength: 20 }).map((all) => all.join(''));
    fc.assert(
      fc.property(labels, (label) => {
        const ascii = domainToASCII(`${label}.example`);
        if (ascii !== '') expect(readableHost(ascii)).toBe(domainToUnicode(ascii));
      }),
    );
    expect(readableHost('https://xn--mgbab0oc.ir:8443')).toBe(
      `https://${domainToUnicode('xn--mgbab0oc.ir')}:8443`,
    );
    for (const host of ['xn--', 'xn--999999999', 'xn--a_b']) expect(readableHost(host)).toBe(host);
  });

  test('letters and digits that people take for the same are the same', () => {
    for (const [one, other] of [
      ['كتابي', 'کتابی'],
      ['می‌روم', 'میروم'],
      ['۱۴۰۵', '1405'],
      ['٣', '۳'],
      ['Straße', 'STRASSE'.replace('SS', 'ß')],
      ['أحمد', 'احمد'],
    ]) {
      expect(folded(one ?? '')).toBe(folded(other ?? ''));
    }
  });
});
