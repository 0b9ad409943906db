import { type Channel, type Lexicon, strongest, type Technology } from './lexicon.ts';

/** The domain of the app that is referred to. */
export const KNOWN_DOMAIN = 'https://shop.example';

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0';
const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

const technology = (browser: string, os: string, device: Technology['device']): Technology => ({
  browser,
  os,
  device,
});

/** User agents of browsers and others, with their technology. */
export const USER_AGENTS: ReadonlyMap<string, Technology> = new Map([
  ['', technology('', '', 'other')],
  [
    `Mozilla/5.0 (PlayStation; PlayStation 5/6.00) ${WEBKIT} Version/14.0 Safari/605.1.15`,
    technology('Safari', '', 'other'),
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`,
    technology('Chrome', 'Windows', 'desktop'),
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/126.0.0.0`,
    technology('Microsoft Edge', 'Windows', 'desktop'),
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 OPR/111.0.0.0`,
    technology('Opera', 'Windows', 'desktop'),
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko',
    technology('Internet Explorer', 'Windows', 'desktop'),
  ],
  [
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
    technology('Firefox', 'Linux', 'desktop'),
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/17.5 Safari/605.1.15`,
    technology('Safari', 'macOS', 'desktop'),
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${WEBKIT} Version/17.5 Mobile/15E148 Safari/604.1`,
    technology('Safari', 'iOS', 'mobile'),
  ],
  [
    `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) ${WEBKIT} Version/16.6 Mobile/15E148 Safari/604.1`,
    technology('Safari', 'iOS', 'tablet'),
  ],
  [
    `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${CHROME} Mobile Safari/537.36`,
    technology('Chrome', 'Android', 'mobile'),
  ],
  [
    `Mozilla/5.0 (Linux; Android 12; SM-X200) ${CHROME} Safari/537.36`,
    technology('Chrome', 'Android', 'tablet'),
  ],
  [
    'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/6.0 TV Safari/537.36',
    technology('Tizen', 'Tizen', 'other'),
  ],
]);

/** Language tags and their canonical form. */
export const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['', ''],
  ['fa-IR', 'fa-IR'],
  ['FA-ir', 'fa-IR'],
  ['en', 'en'],
  ['zh-hans-cn', 'zh-Hans-CN'],
  ['not a tag!', ''],
]);

/** Referrers with their host and the channel that it points to (null: none). */
export const REFERRERS: ReadonlyMap<string, { readonly host: string; readonly channel: Channel | null }> =
  new Map([
    ['', { host: '', channel: null }],
    ['https://www.google.com/search?q=shop', { host: 'google.com', channel: 'search' }],
    ['https://google.com/', { host: 'google.com', channel: 'search' }],
    ['https://duckduckgo.com/', { host: 'duckduckgo.com', channel: 'search' }],
    ['https://www.facebook.com/story', { host: 'facebook.com', channel: 'social' }],
    ['https://mail.google.com/mail/u/0/', { host: 'mail.google.com', channel: 'email' }],
    ['https://docs.google.com/document/d/1', { host: 'docs.google.com', channel: 'referral' }],
    ['https://t.co/Ab1', { host: 't.co', channel: 'social' }],
    ['https://News.Example.ORG:8443/a?b#c', { host: 'news.example.org', channel: 'referral' }],
    ['http://www.news.example.org/', { host: 'news.example.org', channel: 'referral' }],
    ['https://myshop.example/', { host: 'myshop.example', channel: 'referral' }],
    [`${KNOWN_DOMAIN}/cart`, { host: '', channel: null }],
    ['http://www.shop.example:8080/', { host: '', channel: null }],
    ['https://blog.shop.example/post', { host: '', channel: null }],
  ]);

/** Values of utm_source with their channel. */
export const UTM_SOURCES: ReadonlyMap<string, Channel | null> = new Map([
  ['', null],
  ['google', 'search'],
  ['facebook', 'social'],
  ['newsletter', 'email'],
  ['spring_fair', 'campaign'],
  ['\u{1F33C}', 'campaign'],
  ['\uFF21partner', 'campaign'],
]);

/** Values of utm_medium with their channel. */
export const UTM_MEDIUMS: ReadonlyMap<string, Channel | null> = new Map([
  ['', null],
  ['cpc', 'paid'],
  ['email', 'email'],
  ['social', 'social'],
  ['organic', 'search'],
  ['flyer', 'campaign'],
]);

/** Knows the values in the tables above, and no others. */
export const known: Lexicon = {
  technology: (userAgent) => lookUp(USER_AGENTS, userAgent),
  language: (tag) => lookUp(LANGUAGES, tag),
  referrerHost: (referrer) => lookUp(REFERRERS, referrer).host,
  channel: ({ referrer, utm }) =>
    strongest(
      [
        lookUp(REFERRERS, referrer).channel,
        lookUp(UTM_SOURCES, utm.source),
        lookUp(UTM_MEDIUMS, utm.medium),
        utm.campaign || utm.term || utm.content ? ('campaign' as const) : null,
      ].filter((channel) => channel !== null),
    ),
};

function lookUp<Value>(table: ReadonlyMap<string, Value>, word: string): Value {
  const value = table.get(word);
  if (value === undefined) throw new Error(`the oracle does not know ${JSON.stringify(word)}`);
  return value;
}
