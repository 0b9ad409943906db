import { describe, expect, test } from 'vitest';
import { CHANNEL, mediumSignal, referrerSignal, sourceSignal } from '../../src/ingestion/channels.ts';
import { referrerHost } from '../../src/ingestion/referrer.ts';
import { technologyOf } from '../../src/ingestion/user-agent.ts';

describe('a referrer', () => {
  test.each([
    ['', ''],
    ['https://WWW.Google.com:443/search?q=x', 'google.com'],
    ['http://news.example.org:8080/a', 'news.example.org'],
    ['https://shop.example/', ''],
    ['https://www.shop.example/', ''],
    ['https://blog.shop.example/x', ''],
    ['https://notshop.example/x', 'notshop.example'],
    ['https://شاپ.example/', 'xn--mgbzzs.example'],
    ['https://xn--mgbzzs.example/', 'xn--mgbzzs.example'],
    // The URL parser of Node 24 takes it.
    ['https://xn--a.example/', ''],
    ['android-app://com.google.android.gm', ''],
    ['javascript:alert(1)', ''],
    ['not a url', ''],
    ['https://', ''],
  ])('%j is counted under %j', (referrer, host) => {
    expect(referrerHost(referrer, 'shop.example')).toBe(host);
  });

  test.each([
    ['', 'direct'],
    ['google.com', 'search'],
    ['google.co.uk', 'search'],
    ['images.google.de', 'search'],
    ['docs.google.com', 'referral'],
    ['mail.google.com', 'email'],
    ['yandex.ru', 'search'],
    ['search.yahoo.com', 'search'],
    ['mail.yahoo.com', 'email'],
    ['duckduckgo.com', 'search'],
    ['t.co', 'social'],
    ['l.facebook.com', 'social'],
    ['m.youtube.com', 'social'],
    ['evilfacebook.com', 'referral'],
    ['news.ycombinator.com', 'referral'],
  ] as const)('%j points to %s', (host, channel) => {
    expect(referrerSignal(host)).toBe(CHANNEL[channel]);
  });
});

test.each([
  ['', 'direct'],
  ['newsletter', 'email'],
  [' Facebook ', 'social'],
  ['www.facebook.com', 'social'],
  ['google', 'search'],
  ['google.com', 'search'],
  ['spring-flyer', 'campaign'],
] as const)('source %j points to %s', (source, channel) => {
  expect(sourceSignal(source)).toBe(CHANNEL[channel]);
});

test.each([
  ['', 'direct'],
  ['CPC', 'paid'],
  ['paid-social', 'paid'],
  ['affiliate', 'paid'],
  ['email', 'email'],
  ['social', 'social'],
  ['organic', 'search'],
  ['referral', 'campaign'],
  ['qr', 'campaign'],
] as const)('medium %j points to %s', (medium, channel) => {
  expect(mediumSignal(medium)).toBe(CHANNEL[channel]);
});

test.each([
  ['', { browser: '', os: '', device: 'other' }],
  ['curl/8.5.0', { browser: '', os: '', device: 'other' }],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
    { browser: 'Chrome', os: 'Windows', device: 'desktop' },
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    { browser: 'Safari', os: 'iOS', device: 'mobile' },
  ],
  [
    'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
    { browser: 'Safari', os: 'iOS', device: 'tablet' },
  ],
])('user agent %j', (userAgent, technology) => {
  expect(technologyOf(userAgent)).toEqual(technology);
});
