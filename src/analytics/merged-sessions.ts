import type { Range } from '../domain/time.ts';
import type { Bindings } from './sql.ts';

/** 128 bits by which facts know a visitor: no two ids collide in practice, and the id itself stays in one place. */
export const VISITOR_HASH = 'reinterpretAsUInt128(sipHash128(visitor_id))';

/** How a column of a merged session comes from the states that a session's rows hold. */
interface Column {
  readonly states: readonly State[];
  readonly sql: string;
}

/** Merged states; each tuple's first part is the time of the event that it comes from. */
const STATES = {
  n_duration: 'max(s.last_offset)',
  n_pageviews: 'sum(s.pageviews)',
  n_clicks: 'sum(s.clicks)',
  n_errors: 'sum(s.errors)',
  n_customs: 'sum(s.customs)',
  entry_: 'min(s.entry)',
  exit_: 'max(s.exit)',
  visitor_: 'min(s.visitor)',
  technology_: 'min(s.technology)',
  language_: 'min(s.language)',
  screen_: 'min(s.screen)',
  referrer_: 'min(s.referrer)',
  source_: 'min(s.utm_source)',
  medium_: 'min(s.utm_medium)',
  campaign_: 'min(s.utm_campaign)',
  term_: 'min(s.utm_term)',
  content_: 'min(s.utm_content)',
  country_: 'min(s.country)',
  region_: 'min(s.region)',
  city_: 'min(s.city)',
  latitude_: 'min(s.latitude)',
  longitude_: 'min(s.longitude)',
} as const;
type State = keyof typeof STATES;

const column = (sql: string, ...states: State[]): Column => ({ sql, states });

/** The words of the answers; '' is absent. */
const COLUMNS = {
  duration_ms: column('n_duration', 'n_duration'),
  pageviews: column('n_pageviews', 'n_pageviews'),
  clicks: column('n_clicks', 'n_clicks'),
  errors: column('n_errors', 'n_errors'),
  bounced: column(
    'n_pageviews <= 1 AND n_clicks = 0 AND n_customs = 0',
    'n_pageviews',
    'n_clicks',
    'n_customs',
  ),
  entry_path: column('entry_.2', 'entry_'),
  exit_path: column('exit_.2', 'exit_'),
  visitor_id: column('visitor_.2', 'visitor_'),
  browser: column('technology_.3', 'technology_'),
  os: column('technology_.4', 'technology_'),
  device: column('technology_.5', 'technology_'),
  language: column('language_.2', 'language_'),
  screen: column('screen_.2', 'screen_'),
  referrer_host: column('referrer_.3', 'referrer_'),
  utm_source: column('source_.2', 'source_'),
  utm_medium: column('medium_.2', 'medium_'),
  utm_campaign: column('campaign_.2', 'campaign_'),
  utm_term: column('term_.2', 'term_'),
  utm_content: column('content_.2', 'content_'),
  // The smallest signal of any field, see ingestion/channels.ts; a campaign, term or content speaks for `campaign` (5).
  channel: column(
    `['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(referrer_.4, source_.3, medium_.3,
        if(campaign_.2 != '' OR term_.2 != '' OR content_.2 != '', 5, 7))]`,
    'referrer_',
    'source_',
    'medium_',
    'campaign_',
    'term_',
    'content_',
  ),
  country: column('country_.2', 'country_'),
  region: column('region_.2', 'region_'),
  city: column('city_.2', 'city_'),
  // Adding 0 makes -0 the 0 that it equals.
  latitude: column('latitude_.2 + 0.', 'latitude_'),
  longitude: column('longitude_.2 + 0.', 'longitude_'),
} as const satisfies Record<string, Column>;
export type SessionColumn = keyof typeof COLUMNS;

/** Latitude -999 marks absence; (0, 0) is what broken devices send. */
export const HAS_PLACE = 'latitude >= -90 AND longitude >= -180 AND NOT (latitude = 0 AND longitude = 0)';

/**
 * Sessions that started in one of the ranges, merged: one row each (started_at, session and the columns asked for: each
 * costs), with the whole session's totals and its resolved context.
 */
export function mergedSessions(
  bind: Bindings,
  ranges: readonly Range[],
  columns: readonly SessionColumn[],
): string {
  const states = [...new Set(columns.flatMap((name): readonly State[] => COLUMNS[name].states))];
  return `
SELECT started_at, session${columns.map((name) => `, ${COLUMNS[name].sql} AS ${name}`).join('')}
FROM
(
    SELECT s.started_at AS started_at, s.session AS session${states.map((state) => `, ${STATES[state]} AS ${state}`).join('')}
    FROM sessions AS s
    WHERE s.app_id = {app:UUID} AND ${bind.inRanges('s.started_at', ranges)}
    GROUP BY s.started_at, s.session
)`;
}
