import { describe, expect, test } from 'vitest';
import { isBot, isBotSession } from '../../src/ingestion/bots.ts';

describe('the browser of a person is no bot:', () => {
  test.each([
    [
      'Chrome',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
    ],
    [
      'Chrome Frame',
      'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; chromeframe/19.0.1084.52)',
    ],
    [
      'Google Toolbar',
      'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 5.1; GoogleToolbar 5.0.2124.2070; Windows 5.1; .NET CLR 2.0.50727)',
    ],
    [
      'a feed reader in Internet Explorer',
      'Mozilla/4.0 (compatible; MSIE 6.0; Windows 98; Win 9x 4.90; Feedreader)',
    ],
    [
      'a component of Delphi',
      'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; Embedded Web Browser from: http://bsalsa.com/; SLCC2)',
    ],
    [
      'a brand with an address',
      'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; http://www.tropicdesigns.net)',
    ],
    ['a brand with .COM', 'Mozilla/4.0 (compatible; MSIE 5.01; Windows 98; SPINWAY.COM)'],
    [
      'a number with FEED',
      'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.0; ESB{A6A5FEED-9585-4F90-8424-38ED6FD61D32})',
    ],
    [
      'a page that Google translates',
      'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1),gzip(gfe) (via translate.google.com)',
    ],
    [
      'Google Earth',
      'Mozilla/5.0 (Windows NT 6.2; Win64; x64) AppleWebKit/538.1 (KHTML, like Gecko) Google Earth Pro/7.3.3.7721 Safari/538.1',
    ],
    [
      'a phone named Discovery',
      'Mozilla/5.0 (Linux; Android 13; Discovery SE) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/127.0.0.0 Mobile Safari/537.36',
    ],
    [
      'a phone named BOT',
      'Mozilla/5.0 (Linux; Android 6.0; M BOT 551 Build/MRA58K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/54.0.2840.85 Mobile Safari/537.36',
    ],
    [
      'a phone named Spider',
      'Mozilla/5.0 (Linux; Android 13; Spider 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36',
    ],
    ['a phone with keys', 'MAXX_MAUI WAP Browser'],
    [
      'Bada',
      'Mozilla/5.0 (SAMSUNG; SAMSUNG-GT-S5250/1.0; U; bada/1.0; pt-br) AppleWebKit/533.1 (KHTML, like Gecko) Dolfin/2.0 Mobile',
    ],
    [
      'Sogou',
      'Mozilla/5.0 (Linux; Android 10; TLA001; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/80.0.3987.132 Safari/537.36 SogouMSE,SogouMobileBrowser/6.1.5',
    ],
  ])('%s', (_, userAgent) => {
    expect([isBot(userAgent), isBotSession(userAgent)]).toEqual([false, false]);
  });
});

describe('a bot is one, also in the clothes of a browser:', () => {
  test.each([
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3.170816.012; Storebot-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/81.0.4044.138 Mobile Safari/537.36',
    'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; Googlebot/2.1 (+http://www.googlebot.com/bot.html))',
    'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0; AppInsights)',
    'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0;  WOW64;  Trident/6.0;  BingPreview/1.0b)',
    'SAMSUNG-SGH-E250/1.0 Profile/MIDP-2.0 Configuration/CLDC-1.1 (compatible; Googlebot-Mobile/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/113.0.5672.63 Safari/537.36',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
    'Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Feedfetcher-Google; (+http://www.google.com/feedfetcher.html; 1 subscribers; feed-id=11390274670024826467)',
    'Mediapartners-Google',
    'ia_archiver',
    'WhatsApp/2.19.258 A',
    'W3C_Validator/1.3',
  ])('%s', (userAgent) => {
    expect([isBot(userAgent), isBotSession(userAgent)]).toEqual([true, true]);
  });
});

test('an HTTP library or an app is on the list, but the sessions that it sends are no bot’s', () => {
  for (const sender of [
    'node',
    'curl/8.5.0',
    'my-backend/1.0',
    'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
    'com.google.ios.youtube/20.30.5 (iPad13,19; U; CPU iPadOS 18_5 like Mac OS X; en_US)',
  ]) {
    expect([sender, isBot(sender), isBotSession(sender)]).toEqual([sender, true, false]);
  }
  expect(isBot('')).toBe(false);
});
