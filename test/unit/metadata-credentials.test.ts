import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  hashCredential,
  isApiKey,
  isAppSecret,
  newApiKey,
  newAppSecret,
  sameHash,
} from '../../src/metadata/credentials.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('a key is its prefix, 40 random characters and their checksum', () => {
  const key = newApiKey();
  const [, random = '', sum = ''] = /^service_api_([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/.exec(key) ?? [];
  const value = [...sum].reduce((total, digit) => total * 62 + BASE62.indexOf(digit), 0);
  expect(value).toBe(crc32(random));
  expect(isApiKey(key)).toBe(true);
});

test('a key with any one character changed, cut or added is refused by its form', () => {
  const key = newApiKey();
  for (let i = 0; i < key.length; i++) {
    const other = key[i] === 'x' ? 'y' : 'x';
    expect(isApiKey(key.slice(0, i) + other + key.slice(i + 1)), `position ${i}`).toBe(false);
  }
  for (const wrong of ['', key.slice(1), `${key}a`, `${key}\n`, ` ${key}`, newAppSecret()]) {
    expect(isApiKey(wrong)).toBe(false);
  }
});

test('random characters are spread evenly over all 62', () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 500; i++) {
    for (const char of newApiKey().slice('service_api_'.length, -6))
      counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  const expected = (500 * 40) / 62;
  expect(counts.size).toBe(62);
  // 7 standard deviations. A biased draw (256 % 62) would give a quarter of the characters 25 % more.
  for (const count of counts.values())
    expect(Math.abs(count - expected)).toBeLessThan(7 * Math.sqrt(expected));
});

test('an app secret is its prefix and 40 characters', () => {
  const secret = newAppSecret();
  expect(secret).toMatch(/^app_secret_[0-9A-Za-z]{40}$/);
  expect(isAppSecret(secret)).toBe(true);
  expect(isAppSecret(`${secret}a`)).toBe(false);
  expect(newAppSecret()).not.toBe(secret);
});

test('hashes are SHA-256 and compared in full', () => {
  expect(hashCredential('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(sameHash(hashCredential('abc'), hashCredential('abc'))).toBe(true);
  expect(sameHash(hashCredential('abc'), hashCredential('abd'))).toBe(false);
  expect(sameHash('ab', 'abc')).toBe(false);
});
