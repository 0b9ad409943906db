import type { Context } from './wire.ts';

const UTM_PARTS = ['source', 'medium', 'campaign', 'term', 'content'];

/** What every session tells of the browser. */
export const browserContext = (): Context => ({
  language: navigator.language,
  screen: `${screen.width}x${screen.height}`,
});

/** The same, with where the visitor came from: for a session that begins with this page. */
export function landingContext(): Context {
  const query = new URLSearchParams(location.search);
  const utm = UTM_PARTS.map((part) => [part, (query.get(`utm_${part}`) ?? '').slice(0, 256)]);
  return {
    ...browserContext(),
    // A referrer's query is another site's business.
    referrer: document.referrer.replace(/[?#].*/, '').slice(0, 2048),
    utm: Object.fromEntries(utm.filter(([, value]) => value)),
  };
}
