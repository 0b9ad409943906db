import type { Context } from './wire.ts';

const UTM_PARTS = ['source', 'medium', 'campaign', 'term', 'content'];

/** The browser's part of every session. */
export const browserContext = (): Context => ({
  language: navigator.language,
  screen: `${screen.width}x${screen.height}`,
});

/** The same with the visitor's origin, for a session that begins with this page. */
export function landingContext(): Context {
  const query = new URLSearchParams(location.search);
  const utm = UTM_PARTS.map((part) => [part, (query.get(`utm_${part}`) ?? '').slice(0, 256)]);
  return {
    ...browserContext(),
    // A referrer's query belongs to another site.
    referrer: document.referrer.replace(/[?#].*/, '').slice(0, 2048),
    utm: Object.fromEntries(utm.filter(([, value]) => value)),
  };
}
