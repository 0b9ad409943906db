import type { AppId } from '../domain/ids.ts';
import type { Range } from '../domain/time.ts';
import { inRanges, ofApp } from './sql.ts';

/** The words of the answers, from the states of a session's rows; '' is absent. A tuple's first part is a time. */
const COLUMNS = {
  duration_ms: 'max(s.last_offset)',
  pageviews: 'sum(s.pageviews)',
  clicks: 'sum(s.clicks)',
  errors: 'sum(s.errors)',
  bounced: 'sum(s.pageviews) <= 1 AND sum(s.clicks) = 0 AND sum(s.customs) = 0',
  entry_path: 'min(s.entry).2',
  exit_path: 'max(s.exit).2',
  // 128 bits by which facts know a visitor: no two ids collide in practice, and the id itself stays in one place.
  visitor: 'reinterpretAsUInt128(sipHash128(min(s.visitor).2))',
  browser: 'min(s.technology).3',
  os: 'min(s.technology).4',
  device: 'min(s.technology).5',
  language: 'min(s.language).2',
  screen: 'min(s.screen).2',
  referrer_host: 'min(s.referrer).3',
  utm_source: 'min(s.utm_source).2',
  utm_medium: 'min(s.utm_medium).2',
  utm_campaign: 'min(s.utm_campaign).2',
  utm_term: 'min(s.utm_term).2',
  utm_content: 'min(s.utm_content).2',
  // The smallest signal of any field, see ingestion/channels.ts; a campaign, term or content speaks for `campaign` (5).
  channel: `['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(min(s.referrer).4, min(s.utm_source).3, min(s.utm_medium).3,
        if(min(s.utm_campaign).2 != '' OR min(s.utm_term).2 != '' OR min(s.utm_content).2 != '', 5, 7))]`,
  country: 'min(s.country).2',
  region: 'min(s.region).2',
  city: 'min(s.city).2',
  // Adding 0 makes -0 the 0 that it equals.
  latitude: 'min(s.latitude).2 + 0.',
  longitude: 'min(s.longitude).2 + 0.',
} as const satisfies Record<string, string>;
export type SessionColumn = keyof typeof COLUMNS;

/** Latitude -999 marks absence; (0, 0) is what broken devices send. */
export const HAS_PLACE = 'latitude >= -90 AND longitude >= -180 AND NOT (latitude = 0 AND longitude = 0)';

/**
 * Sessions that started in one of the ranges, merged: one row each (started_at, session and the columns asked for: each
 * costs), with the whole session's totals and its resolved context.
 */
export function mergedSessions(
  app: AppId,
  ranges: readonly Range[],
  columns: readonly SessionColumn[],
): string {
  return `
SELECT s.started_at AS started_at, s.session AS session${columns.map((name) => `, ${COLUMNS[name]} AS ${name}`).join('')}
FROM sessions AS s
WHERE s.${ofApp(app)} AND ${inRanges('s.started_at', ranges)}
GROUP BY s.started_at, s.session`;
}
