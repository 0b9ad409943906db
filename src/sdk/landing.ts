import { trueUserAgent } from './user-agent.ts';
import type { Context } from './wire.ts';

const UTM_PARTS = ['source', 'medium', 'campaign', 'term', 'content'];

/** The context of a session that begins now. `landing`: with this page, so also with the visitor's origin. */
export function contextOf(landing: boolean): Context {
  const query = new URLSearchParams(location.search);
  return {
    language: navigator.language,
    screen: `${screen.width}x${screen.height}`,
    userAgent: trueUserAgent(),
    ...(landing && {
      // A referrer's query belongs to another site.
      referrer: document.referrer.replace(/[?#].*/, ''),
      utm: Object.fromEntries(UTM_PARTS.map((part) => [part, query.get(`utm_${part}`) || undefined])),
    }),
  };
}
