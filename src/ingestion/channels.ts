import { trimBlanks } from '../domain/blank.ts';
import { lowerAscii } from '../domain/fold.ts';

/**
 * The origin of a session. Each field points to one channel. The session's channel is the smallest number
 * among its fields: `paid` wins over `email`, and so on. Campaign, term and content point to `campaign` if
 * they are not empty. The lists are closed; docs/ingestion.md shows them as tables.
 */
export const CHANNEL = {
  paid: 1,
  email: 2,
  social: 3,
  search: 4,
  campaign: 5,
  referral: 6,
  direct: 7,
} as const;

export type Signal = (typeof CHANNEL)[keyof typeof CHANNEL];

/**
 * Returns the channel of a referring host. '' (none, or the app's own host) points to `direct`. Host: lower
 * case, no `www.`.
 */
export function referrerSignal(host: string): Signal {
  return host === '' ? CHANNEL.direct : (hostSignal(host) ?? CHANNEL.referral);
}

/** Returns the channel of `utm_source`: that of a known name or host, otherwise `campaign`. */
export function sourceSignal(source: string): Signal {
  const name = normal(source).replace(/^www\./, '');
  if (name === '') return CHANNEL.direct;
  if (EMAIL_NAMES.has(name)) return CHANNEL.email;
  if (SOCIAL_NAMES.has(name)) return CHANNEL.social;
  if (SEARCH_NAMES.has(name)) return CHANNEL.search;
  return hostSignal(name) ?? CHANNEL.campaign;
}

/** Returns the channel of `utm_medium`; a medium that is in no list points to `campaign`. */
export function mediumSignal(medium: string): Signal {
  const name = normal(medium);
  if (name === '') return CHANNEL.direct;
  if (PAID_MEDIUMS.has(name) || name.startsWith('paid')) return CHANNEL.paid;
  if (EMAIL_MEDIUMS.has(name)) return CHANNEL.email;
  if (SOCIAL_MEDIUMS.has(name)) return CHANNEL.social;
  if (SEARCH_MEDIUMS.has(name)) return CHANNEL.search;
  return CHANNEL.campaign;
}

/** Values are stored without blanks at their ends. The lists are ASCII. */
const normal = (text: string): string => lowerAscii(trimBlanks(text));

/** Checks mail before search: mail.google.com is a mailbox, google.com a search engine. */
function hostSignal(host: string): Signal | null {
  if (belongsTo(host, WEBMAIL_HOSTS)) return CHANNEL.email;
  if (belongsTo(host, SOCIAL_HOSTS)) return CHANNEL.social;
  if (SEARCH_HOST.test(host) || belongsTo(host, SEARCH_HOSTS)) return CHANNEL.search;
  return null;
}

/** The most labels of a listed host. */
const MAX_LABELS = 3;

/** True for a listed host and for every subdomain of one. */
function belongsTo(host: string, listed: ReadonlySet<string>): boolean {
  const labels = host.split('.').slice(-MAX_LABELS);
  return labels.some((_, first) => listed.has(labels.slice(first).join('.')));
}

/** Search engines with one host per country. Their other services (docs.google.com) are referrals. */
const SEARCH_HOST = /^(?:(?:images|news|cse)\.)?(?:google|yandex)\.(?:[a-z]{2,3}|com?\.[a-z]{2})$/;

const SEARCH_HOSTS = new Set([
  'bing.com',
  'search.yahoo.com',
  'yahoo.com',
  'duckduckgo.com',
  'baidu.com',
  'ecosia.org',
  'search.brave.com',
  'startpage.com',
  'qwant.com',
  'kagi.com',
  'naver.com',
  'seznam.cz',
  'sogou.com',
  'ask.com',
  'search.aol.com',
  'parsijoo.ir',
  'zarebin.ir',
]);

const SOCIAL_HOSTS = new Set([
  'facebook.com',
  'fb.com',
  'instagram.com',
  'threads.net',
  'twitter.com',
  'x.com',
  't.co',
  'linkedin.com',
  'lnkd.in',
  'tiktok.com',
  'reddit.com',
  'pinterest.com',
  'youtube.com',
  'youtu.be',
  'telegram.org',
  't.me',
  'whatsapp.com',
  'wa.me',
  'snapchat.com',
  'vk.com',
  'ok.ru',
  'weibo.com',
  'quora.com',
  'tumblr.com',
  'discord.com',
  'mastodon.social',
  'bsky.app',
  'aparat.com',
  'virasty.com',
]);

const WEBMAIL_HOSTS = new Set([
  'mail.google.com',
  'outlook.live.com',
  'outlook.office.com',
  'outlook.office365.com',
  'mail.yahoo.com',
  'mail.aol.com',
  'mail.proton.me',
  'mail.yandex.com',
  'mail.yandex.ru',
  'mail.ru',
  'mail.zoho.com',
  'app.fastmail.com',
  'webmail.gmx.net',
]);

const EMAIL_NAMES = new Set([
  'email',
  'e-mail',
  'mail',
  'newsletter',
  'gmail',
  'outlook',
  'mailchimp',
  'sendgrid',
  'mailgun',
  'klaviyo',
  'brevo',
  'sendinblue',
  'mailerlite',
  'substack',
]);
const SOCIAL_NAMES = new Set([
  'social',
  'facebook',
  'fb',
  'meta',
  'instagram',
  'ig',
  'threads',
  'twitter',
  'x',
  'linkedin',
  'tiktok',
  'reddit',
  'pinterest',
  'youtube',
  'telegram',
  'whatsapp',
  'snapchat',
  'vk',
  'weibo',
  'quora',
  'discord',
  'mastodon',
  'bluesky',
  'aparat',
]);
const SEARCH_NAMES = new Set([
  'google',
  'bing',
  'yahoo',
  'duckduckgo',
  'baidu',
  'yandex',
  'ecosia',
  'brave',
  'startpage',
  'qwant',
  'kagi',
  'naver',
  'seznam',
]);

/** `affiliate` is here because an affiliate is paid for its visitors. */
const PAID_MEDIUMS = new Set([
  'cpc',
  'ppc',
  'cpm',
  'cpv',
  'cpa',
  'cpp',
  'sem',
  'ad',
  'ads',
  'display',
  'banner',
  'retargeting',
  'remarketing',
  'sponsored',
  'affiliate',
]);
const EMAIL_MEDIUMS = new Set(['email', 'e-mail', 'e_mail', 'mail', 'newsletter']);
const SOCIAL_MEDIUMS = new Set([
  'social',
  'social-network',
  'social-media',
  'social_media',
  'social network',
  'social media',
  'sm',
]);
const SEARCH_MEDIUMS = new Set([
  'organic',
  'search',
  'organic-search',
  'organic_search',
  'organic search',
  'seo',
]);
