import type { Context } from './wire.ts';

const UTM_PARTS = ['source', 'medium', 'campaign', 'term', 'content'];

/** The browser's part of every session. */
export const browserContext = (): Context => ({
  language: navigator.language,
  screen: `${screen.width}x${screen.height}`,
  // An iPad says that it is a Mac, and no Mac has a touch screen.
  userAgent: navigator.maxTouchPoints > 1 ? navigator.userAgent.replace('Macintosh', 'iPad') : undefined,
});

/** The same with the visitor's origin, for a session that begins with this page. */
export function landingContext(): Context {
  const query = new URLSearchParams(location.search);
  return {
    ...browserContext(),
    // A referrer's query belongs to another site.
    referrer: document.referrer.replace(/[?#].*/, ''),
    utm: Object.fromEntries(UTM_PARTS.map((part) => [part, query.get(`utm_${part}`) || undefined])),
  };
}
