import { describe, expect, test } from 'vitest';
import { AppDomain, AppName, hostOf } from '../../src/metadata/names.ts';

describe('an app’s name', () => {
  test.each([
    ['Shop', 'Shop'],
    ['  Shop of Ali \t', 'Shop of Ali'],
    ['فروشگاه', 'فروشگاه'],
    ['😀'.repeat(100), '😀'.repeat(100)],
    [` ${'a'.repeat(100)} `, 'a'.repeat(100)],
  ])('%j is kept as %j', (text, name) => {
    expect(AppName.parse(text)).toBe(name);
  });

  test.each([
    '',
    '   ',
    'a'.repeat(101),
    '😀'.repeat(101),
    'a\u0000b',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    'a\ud800b',
    7,
    null,
  ])('%j is refused', (text) => {
    expect(AppName.safeParse(text).success).toBe(false);
  });
});

describe('an app’s domain', () => {
  test.each([
    ['https://example.com', 'https://example.com'],
    ['https://example.com/', 'https://example.com'],
    ['HTTPS://Shop.Example.COM', 'https://shop.example.com'],
    ['https://example.com:443', 'https://example.com'],
    ['http://example.com:80/', 'http://example.com'],
    ['http://example.com:443', 'http://example.com:443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['https://MÜNCHEN.example', 'https://xn--mnchen-3ya.example'],
    ['https://مثال.ایران', 'https://xn--mgbh0fb.xn--mgba3a4f16a'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%j is kept as %j', (text, domain) => {
    expect(AppDomain.parse(text)).toBe(domain);
  });

  test.each([
    '',
    'example.com',
    'ftp://example.com',
    'https://',
    'https:///example.com',
    'https:example.com',
    'https:\\\\example.com',
    'https://example.com//',
    'https://example.com/a',
    'https://example.com/?',
    'https://example.com?',
    'https://example.com?a=1',
    'https://example.com#',
    'https://example.com/#a',
    'https://@example.com',
    'https://a:b@example.com',
    ' https://example.com',
    'https://example.com ',
    'https://exam\tple.com',
    'https://example.com\n',
    'https://exa mple.com',
    'https://ex%61mple.com',
    'https://example.com:',
    'https://example.com:65536',
    'https://example.com:1a',
    'https://example.com:0',
    'http://1',
    'http://0x7f.1',
    'https://exa_mple!.com',
    'https://example..com',
    'https://-example.com',
    'https://xn--a',
    'https://www.xn--a.com',
    'https://xn--www-.com',
    `https://${'a'.repeat(64)}.com`,
    `https://${'a.'.repeat(127)}com`,
    7,
    null,
  ])('%j is refused', (text) => {
    expect(AppDomain.safeParse(text).success).toBe(false);
  });

  test('host and port are compared without the scheme', () => {
    const host = (text: string): string => hostOf(AppDomain.parse(text));
    expect(host('http://Example.com:80')).toBe(host('https://example.com:443/'));
    expect(host('https://example.com:8443')).not.toBe(host('https://example.com'));
  });
});
