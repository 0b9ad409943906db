import Bowser from 'bowser';
import { type Lexicon, strongest, type Technology } from './lexicon.ts';

/** For real requests of an access log. They have a user agent and a referrer, but no other context. */
export const logLexicon: Lexicon = {
  technology: (userAgent) => {
    if (userAgent === '') return { browser: '', os: '', device: 'other' };
    const { browser, os, platform } = Bowser.parse(userAgent);
    // Bowser does not know the BSDs and Solaris.
    const isUnixDesktop = platform.type === undefined && userAgent.includes('(X11; ');
    return {
      browser: browser.name ?? '',
      os: os.name ?? '',
      device: isUnixDesktop ? 'desktop' : deviceOf(platform.type),
    };
  },
  language: () => '',
  referrerHost,
  channel: ({ referrer, appDomain }) => {
    const host = referrerHost(referrer, appDomain);
    if (host === '') return strongest([]);
    if (/(^|\.)(google\.(com|[a-z]{2}|com?\.[a-z]{2})|duckduckgo\.com|bing\.com)$/.test(host))
      return 'search';
    return host === 't.co' ? 'social' : 'referral';
  },
};

const deviceOf = (type: string | undefined): Technology['device'] =>
  type === 'desktop' || type === 'mobile' || type === 'tablet' ? type : 'other';

function referrerHost(referrer: string, appDomain: string): string {
  const [, host = ''] = /^https?:\/\/([^/?#:]+)/i.exec(referrer) ?? [];
  const own = new URL(appDomain).host;
  const name = host.toLowerCase();
  return name === own || name.endsWith(`.${own}`) ? '' : name.replace(/^www\./, '');
}
