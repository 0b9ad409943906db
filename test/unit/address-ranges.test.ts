import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressRange, inRanges } from '../../src/domain/address-ranges.ts';
import { forAll } from '../support/random.ts';

test.each([
  ['192.0.2.7', '192.0.2.7/32'],
  [' 192.0.2.0/24 ', '192.0.2.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8:0::9', '2001:db8::9/128'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.7/32'],
])('%s is the range %s', (text, range) => {
  expect(addressRange(text)).toBe(range);
});

test.each([
  '',
  'office',
  '192.0.2.7/33',
  '192.0.2.7/',
  '192.0.2.7/-1',
  '192.0.2/24',
  '192.0.2.7:80',
  '[2001:db8::1]',
  '2001:db8::/129',
  'fe80::1%eth0',
  '::ffff:192.0.2.0/24',
  '1.2.3.4,5.6.7.8',
])('%s is no range', (text) => {
  expect(addressRange(text)).toBeUndefined();
});

const bitsOf = (address: string): string =>
  address
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');

test('an address is in a range if they begin with the same bits, in any spelling, and of one family', async () => {
  const four = fc.record({ range: fc.ipV4(), address: fc.ipV4(), bits: fc.nat(32) });
  await forAll(four, ({ range, address, bits }) => {
    const same = bitsOf(range).slice(0, bits) === bitsOf(address).slice(0, bits);
    const excludes = inRanges([addressRange(`${range}/${bits}`) ?? 'none']);
    expect(excludes(address)).toBe(same);
    expect(excludes(`::ffff:${address}`)).toBe(same);
    expect(excludes(`${address}:5000`)).toBe(same);
  });
  const excludes = inRanges(['2001:db8::/33', '192.0.2.0/25']);
  expect(
    [
      '2001:0db8:7fff::1',
      '[2001:DB8::9]:80',
      '2001:db8:8000::',
      '::',
      '192.0.2.127',
      '192.0.2.128',
      '',
      'x',
    ].map(excludes),
  ).toEqual([true, true, false, false, true, false, false, false]);
});
