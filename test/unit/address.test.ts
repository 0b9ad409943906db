import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientAddress } from '../../src/domain/address.ts';
import { forAll } from '../support/random.ts';

const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  '203.0.113.7': [
    '203.0.113.7',
    ' 203.0.113.7\t',
    '203.0.113.7:51000',
    '203.0.113.7:1',
    '[203.0.113.7]:443',
    '"203.0.113.7:51000"',
    '203.0.113.7, 10.0.0.1',
    '203.0.113.7:51000,10.0.0.1:80, 10.0.0.2',
    ', ,203.0.113.7',
    '::ffff:203.0.113.7',
    '::FFFF:203.0.113.7',
    '::ffff:203.0.113.7:51000',
    '[::ffff:203.0.113.7]',
    '[::ffff:203.0.113.7]:51000',
    '::ffff:cb00:7107',
    '[::FFFF:CB00:7107]:51000',
    '0:0:0:0:0:ffff:203.0.113.7',
    '0:0:0:0:0:ffff:203.0.113.7:51000',
    '0000:0000:0000:0000:0000:ffff:cb00:7107',
    '0::0:ffff:cb00:7107',
    '::ffff:203.0.113.7%eth0',
  ],
  '2001:db8::1': [
    '2001:db8::1',
    '2001:DB8::1',
    '2001:0db8::0001',
    '2001:db8:0:0:0:0:0:1',
    '2001:0db8:0000:0000:0000:0000:0000:0001',
    '2001:db8::0:0:1',
    '2001:db8::0.0.0.1',
    '[2001:db8::1]',
    '[2001:DB8::1]:443',
    '"[2001:db8::1]:443"',
    '2001:db8:0:0:0:0:0:1:51000',
    '[2001:db8::1]:51000, 2001:db8::2',
  ],
  'fe80::1': ['fe80::1%eth0', 'FE80::1%25eth0', '[fe80::1%br_lan]:80', 'fe80:0::1%eth0.100', 'fe80::1%a%b'],
  '::1': ['::1', '0:0:0:0:0:0:0:1', '[::1]:3000'],
  '::': ['::', '0::', '::0', '0:0:0:0:0:0:0:0'],
  '1::': ['1::', '1:0:0:0:0:0:0:0'],
  // The first of the longest runs of zeros is left out; a single zero is not.
  '2001:0:0:1::1': ['2001:0:0:1:0:0:0:1'],
  '2001:db8::1:0:0:1': ['2001:db8:0:0:1:0:0:1'],
  '2001:db8:0:1:1:1:1:1': ['2001:db8::1:1:1:1:1'],
  // Not mapped: `ffff` stands elsewhere.
  '::ffff:0:cb00:7107': ['::ffff:0:203.0.113.7'],
  '::cb00:7107': ['::203.0.113.7'],
};

test.each(Object.entries(SPELLINGS))('%s is one address in every spelling', (address, spellings) => {
  for (const text of spellings) expect(clientAddress(text), text).toBe(address);
});

test.each([
  '',
  ' ',
  ',',
  '-',
  'unknown',
  'unknown, 203.0.113.7',
  '_hidden',
  'localhost',
  'www.shop.example',
  'www.shop.example:443',
  '203.0.113.7.shop.example',
  '203.0.113',
  '203.0.113.256',
  '203.0.113.007',
  '203.0.113.7:port',
  '203.0.113.7:510001',
  '203.0.113.7 198.51.100.1',
  '203.0.113.7%eth0',
  '٢٠٣.0.113.7',
  '3405803783',
  '0xcb007107',
  ':::1',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '2001:db8::g',
  '2001:db8::1]:80',
  '[2001:db8::1',
  '[[2001:db8::1]]',
  '[]',
  '[]:80',
  `[${'0'.repeat(100)}::1]`,
  `fe80::1%${'e'.repeat(100)}`,
])('%o is no address', (text) => {
  expect(clientAddress(text)).toBeUndefined();
});

/** Zeros are as frequent as other groups, and may be left out or padded. */
const groupsArbitrary = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
  minLength: 8,
  maxLength: 8,
});

test('any IPv6 address is one text in every spelling', async () => {
  await forAll(groupsArbitrary, (groups) => {
    const padded = groups.map((group) => group.toString(16).padStart(4, '0')).join(':');
    // The URL parser writes addresses as RFC 5952 says, but for those with IPv4 in them.
    const expected = new URL(`http://[${padded}]`).hostname.slice(1, -1);
    fc.pre(!expected.startsWith('::ffff:'));
    for (const text of [padded, padded.toUpperCase(), `${padded}:80`, expected, `[${expected}]:80`]) {
      expect(clientAddress(text), text).toBe(expected);
    }
  });
});
