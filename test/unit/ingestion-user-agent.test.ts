import { expect, test } from 'vitest';
import { isBot, isBotSession } from '../../src/ingestion/bots.ts';
import { technologyOf } from '../../src/ingestion/user-agent.ts';

/** User agents of browsers in use, and of some that are only met in old logs. */
const BROWSERS: readonly (readonly [browser: string, os: string, device: string, userAgent: string])[] = [
  [
    'Chrome',
    'Chrome OS',
    'desktop',
    'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ],
  [
    'Chrome',
    'Chrome OS',
    'desktop',
    'Mozilla/5.0 (X11; CrOS aarch64 15633.69.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.6045.212 Safari/537.36',
  ],
  [
    'Safari',
    'iOS',
    'tablet',
    // As the SDK sends it for an iPad that says that it is a Mac.
    'Mozilla/5.0 (iPad; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
  ],
  ['Firefox', '', 'desktop', 'Mozilla/5.0 (X11; FreeBSD amd64; rv:132.0) Gecko/20100101 Firefox/132.0'],
  ['Firefox', '', 'desktop', 'Mozilla/5.0 (X11; OpenBSD amd64; rv:109.0) Gecko/20100101 Firefox/115.0'],
  ['Firefox', '', 'desktop', 'Mozilla/5.0 (X11; NetBSD amd64; rv:78.0) Gecko/20100101 Firefox/78.0'],
  [
    'Firefox',
    '',
    'desktop',
    'Mozilla/5.0 (X11; U; DragonFly i386; de; rv:1.9.1) Gecko/20090720 Firefox/3.5.1',
  ],
  [
    'Chrome',
    '',
    'desktop',
    'Mozilla/5.0 (X11; FreeBSD amd64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36',
  ],
  ['Firefox', '', 'desktop', 'Mozilla/5.0 (X11; SunOS i86pc; rv:52.0) Gecko/20100101 Firefox/52.0'],
  [
    'Chrome',
    'Linux',
    'desktop',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ],
  [
    'Firefox',
    'Linux',
    'desktop',
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  ],
  [
    'Firefox',
    'Linux',
    'desktop',
    'Mozilla/5.0 (Wayland; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  ],
  [
    'Safari',
    'macOS',
    'desktop',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
  ],
  [
    'Firefox',
    'macOS',
    'desktop',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0',
  ],
  [
    'Microsoft Edge',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
  ],
  [
    'Opera',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/124.0.0.0',
  ],
  [
    'Vivaldi',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Vivaldi/7.6.3797.63',
  ],
  [
    'Yandex Browser',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 YaBrowser/25.8.0.0 Safari/537.36',
  ],
  [
    'Internet Explorer',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko',
  ],
  [
    'DuckDuckGo',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/132.0.0.0 Safari/537.36 Ddg/132.0',
  ],
  [
    'Safari',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
  ],
  [
    'Chrome',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1',
  ],
  [
    'Firefox',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/145.0 Mobile/15E148 Safari/605.1.15',
  ],
  [
    'Microsoft Edge',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 EdgiOS/142.0.3595.66 Mobile/15E148 Safari/604.1',
  ],
  [
    'Safari',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 400.0.0.0 (iPhone15,3; iOS 18_6; en_US; en; scale=3.00; 1290x2796; 1)',
  ],
  [
    'Google Search',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/390.0.811331708 Mobile/15E148 Safari/604.1',
  ],
  [
    'Safari',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15',
  ],
  [
    'Safari',
    'iOS',
    'tablet',
    'Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  ],
  [
    'Chrome',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  ],
  [
    'Chrome',
    'Android',
    'tablet',
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ],
  [
    'Samsung Internet for Android',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; Android 15; SM-S938B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
  ],
  [
    'Samsung Internet for Android',
    'Android',
    'tablet',
    'Mozilla/5.0 (Linux; Android 15; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Safari/537.36',
  ],
  ['Firefox', 'Android', 'mobile', 'Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0'],
  ['Firefox', 'Android', 'tablet', 'Mozilla/5.0 (Android 15; Tablet; rv:145.0) Gecko/145.0 Firefox/145.0'],
  [
    'Miui',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; U; Android 14; en-us; 23127PN0CG Build/UKQ1.230804.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/112.0.5615.136 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.24.0-gn',
  ],
  [
    'Chrome',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; Android 12; HarmonyOS; ALN-AL00; HMSCore 6.14.0.301) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.5735.196 HuaweiBrowser/16.0.0.300 Mobile Safari/537.36',
  ],
  [
    'Chrome',
    'HarmonyOS',
    'mobile',
    'Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/132.0.0.0 Safari/537.36 ArkWeb/6.0.0 Mobile',
  ],
  [
    'Chrome',
    'HarmonyOS',
    'desktop',
    'Mozilla/5.0 (PC; OpenHarmony 5.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/132.0.0.0 Safari/537.36 ArkWeb/6.0.0',
  ],
  [
    'Chrome',
    'HarmonyOS',
    'tablet',
    'Mozilla/5.0 (Tablet; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/132.0.0.0 Safari/537.36 ArkWeb/6.0.0',
  ],
  [
    'Opera',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; Android 14; CPH2581) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/123.0.0.0 Mobile Safari/537.36 OPR/86.0.0.0',
  ],
  [
    'UC Browser',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; U; Android 13; en-US; RMX3085) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 UCBrowser/13.6.0.1315 Mobile Safari/537.36',
  ],
  [
    'Microsoft Edge',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/142.0.0.0',
  ],
  [
    'Amazon Silk',
    'Android',
    'tablet',
    'Mozilla/5.0 (Linux; Android 11; KFTRWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/135.6.1 like Chrome/135.0.7049.111 Safari/537.36',
  ],
  [
    'Tizen',
    'Tizen',
    'other',
    'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36',
  ],
  [
    'WebOS Browser',
    'WebOS',
    'other',
    'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/108.0.5359.211 Safari/537.36 WebAppManager',
  ],
  [
    'Safari',
    '',
    'other',
    'Mozilla/5.0 (PlayStation; PlayStation 5/8.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.4 Safari/605.1.15',
  ],
  [
    'Safari',
    '',
    'other',
    'Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.3.15.4 NintendoBrowser/5.1.0.26684',
  ],
  ['Firefox', '', 'mobile', 'Mozilla/5.0 (Mobile; Nokia 8110 4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5'],
  [
    'LibreWolf',
    'Linux',
    'desktop',
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0 LibreWolf/128',
  ],
  [
    'Firefox',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0 Waterfox/6.6',
  ],
  [
    'Pale Moon',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Goanna/6.8 Firefox/128.0 PaleMoon/33.9',
  ],
  [
    'DuckDuckGo',
    'macOS',
    'desktop',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15 Ddg/18.6',
  ],
  [
    'Chrome',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; Android 13; SM-A536B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/480.0.0.0;]',
  ],
  [
    'Samsung Internet for Android',
    'Android',
    'tablet',
    'Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-T870) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/20.0 Chrome/106.0.5249.126 Safari/537.36',
  ],
  [
    'Internet Explorer',
    'Windows',
    'desktop',
    'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; chromeframe/19.0.1084.52)',
  ],
  [
    'Internet Explorer',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; AS; rv:11.0) like Gecko',
  ],
  [
    'Microsoft Edge',
    'Windows Phone',
    'mobile',
    'Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/52.0.2743.116 Mobile Safari/537.36 Edge/15.15254',
  ],
  [
    'Chrome',
    'Chrome OS',
    'desktop',
    'Mozilla/5.0 (X11; CrOS armv7l 13597.84.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0.4324.186 Safari/537.36',
  ],
  [
    'Chrome',
    'macOS',
    'desktop',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ],
  [
    'SeaMonkey',
    '',
    'desktop',
    'Mozilla/5.0 (X11; FreeBSD amd64; rv:140.0) Gecko/20100101 Firefox/140.0 SeaMonkey/2.53.21',
  ],
  ['Firefox', '', 'desktop', 'Mozilla/5.0 (Wayland; FreeBSD amd64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Opera', 'Linux', 'desktop', 'Opera/9.80 (X11; Linux i686) Presto/2.12.388 Version/12.16'],
  [
    'Chrome',
    'Android',
    'tablet',
    'Mozilla/5.0 (Linux; Android 14; Lenovo TB-J716F) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ],
  [
    'NAVER Whale Browser',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Whale/4.34.340.19 Safari/537.36',
  ],
  [
    'Chrome',
    'Android',
    'mobile',
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.0.0 Mobile DuckDuckGo/5 Safari/537.36',
  ],
];

test.each(BROWSERS)('%s on %s, %s: %s', (browser, os, device, userAgent) => {
  expect(technologyOf(userAgent)).toEqual({ browser, os, device });
  expect([isBot(userAgent), isBotSession(userAgent)]).toEqual([false, false]);
});

test.each(['', 'curl/8.5.0', 'my-backend/1.0'])('%j is no known device', (userAgent) => {
  expect(technologyOf(userAgent)).toMatchObject({ os: '', device: 'other' });
});
