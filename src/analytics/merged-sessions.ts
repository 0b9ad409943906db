import type { AppId } from '../domain/ids.ts';
import { DAY_MS, type EpochMs, epochMs, type Range } from '../domain/time.ts';
import { placeText } from '../facts/place.ts';
import { contextsFromEvents, rowsFromEvents } from '../facts/session-rows.ts';
import { channelOf, FIRST, firstText, lastText } from '../facts/session-states.ts';
import { inHours, inRanges, ofApp } from './sql.ts';

/**
 * SQL of each column of a merged session, from the states of its rows; '' is absent. The first part of a
 * state is a time.
 */
const COLUMNS = {
  events: 'sum(s.events)',
  duration_ms: 'max(s.last_offset)',
  pageviews: 'sum(s.pageviews)',
  clicks: 'sum(s.clicks)',
  errors: 'sum(s.errors)',
  bounced: 'sum(s.pageviews) <= 1 AND sum(s.clicks) = 0 AND sum(s.customs) = 0',
  entry_page: firstText('s.entry'),
  exit_page: lastText('s.exit'),
  // 128 bits identify a visitor in the facts. No two ids collide in practice, and the id itself stays in one
  // place.
  visitor: `reinterpretAsUInt128(sipHash128(${firstText('s.visitor')}))`,
  browser: `${FIRST.technology}[2]`,
  os: `${FIRST.technology}[3]`,
  device: `${FIRST.technology}[4]`,
  language: firstText('s.language'),
  screen: firstText('s.screen'),
  referrer: `${FIRST.referrer}[2]`,
  utm_source: `${FIRST.source}[1]`,
  utm_medium: `${FIRST.medium}[1]`,
  utm_campaign: firstText('s.utm_campaign'),
  utm_term: firstText('s.utm_term'),
  utm_content: firstText('s.utm_content'),
  channel: channelOf(
    [`${FIRST.referrer}[3]`, `${FIRST.source}[2]`, `${FIRST.medium}[2]`],
    ['s.utm_campaign', 's.utm_term', 's.utm_content'].map(firstText),
  ),
  country: firstText('s.country'),
  place: placeText(
    firstText('s.country'),
    firstText('s.region'),
    firstText('s.city'),
    'min(s.latitude).2',
    'min(s.longitude).2',
  ),
} as const satisfies Record<string, string>;
export type SessionColumn = keyof typeof COLUMNS;

/** SQL of the columns, each under its name, for rows of `sessions AS s` grouped by session. */
export const mergedColumns = (columns: readonly SessionColumn[]): string =>
  columns.map((name) => `${COLUMNS[name]} AS ${name}`).join(', ');

/**
 * Columns that need all events of a session. The others only need its events with a context; each session has
 * at least one.
 */
const OF_ALL_EVENTS: ReadonlySet<SessionColumn> = new Set([
  'events',
  'duration_ms',
  'pageviews',
  'clicks',
  'errors',
  'bounced',
  'entry_page',
  'exit_page',
]);

/** `sessions` holds all of the app's sessions that started at `keptFrom` or later. */
interface SessionsOf {
  readonly app: AppId;
  readonly keptFrom: EpochMs;
}

/**
 * SQL of the sessions that started in the range, merged: one row each (started_at, session and `columns`),
 * with the totals and the context of the whole session. Each column costs time. `only` is an additional
 * condition on the start, for rows of `sessions AS s`.
 */
export function mergedSessions(
  { app, keptFrom }: SessionsOf,
  range: Range,
  columns: readonly SessionColumn[],
  only?: string,
): string {
  const started = `${ofApp(app)} AND ${inRanges('started_at', [range])}`;
  // A session lasts at most 24 h.
  const events = { from: range.from, to: epochMs(range.to + DAY_MS) };
  const fromEvents = columns.some((column) => OF_ALL_EVENTS.has(column))
    ? rowsFromEvents
    : contextsFromEvents;
  const rows = range.from >= keptFrom ? 'sessions' : fromEvents(`${started} AND ${inHours([events])}`);
  return `
SELECT s.started_at AS started_at, s.session AS session, ${mergedColumns(columns)}
FROM ${rows} AS s
WHERE ${started}${only === undefined ? '' : ` AND ${only}`}
GROUP BY s.started_at, s.session`;
}
