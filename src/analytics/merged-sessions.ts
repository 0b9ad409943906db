import type { AppId } from '../domain/ids.ts';
import { DAY_MS, type EpochMs, epochMs, type Range } from '../domain/time.ts';
import { placeText } from '../facts/place.ts';
import { contextsFromEvents, rowsFromEvents } from '../facts/session-rows.ts';
import { channelOf, FIRST, firstText, lastText } from '../facts/session-states.ts';
import { inHours, inRanges, ofApp } from './sql.ts';

/** The words of the answers, from the states of a session's rows; '' is absent. A tuple's first part is a time. */
const COLUMNS = {
  events: 'sum(s.events)',
  duration_ms: 'max(s.last_offset)',
  pageviews: 'sum(s.pageviews)',
  clicks: 'sum(s.clicks)',
  errors: 'sum(s.errors)',
  bounced: 'sum(s.pageviews) <= 1 AND sum(s.clicks) = 0 AND sum(s.customs) = 0',
  entry_path: firstText('s.entry'),
  exit_path: lastText('s.exit'),
  // 128 bits by which facts know a visitor: no two ids collide in practice, and the id itself stays in one place.
  visitor: `reinterpretAsUInt128(sipHash128(${firstText('s.visitor')}))`,
  browser: `${FIRST.technology}[2]`,
  os: `${FIRST.technology}[3]`,
  device: `${FIRST.technology}[4]`,
  language: firstText('s.language'),
  screen: firstText('s.screen'),
  referrer_host: `${FIRST.referrer}[2]`,
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

/** Of rows of `sessions AS s`, grouped by session: each column by its name. */
export const mergedColumns = (columns: readonly SessionColumn[]): string =>
  columns.map((name) => `${COLUMNS[name]} AS ${name}`).join(', ');

/** What is made of all events of a session; the other columns are of those that have a context, and each session has one of them. */
const OF_ALL_EVENTS: ReadonlySet<SessionColumn> = new Set([
  'events',
  'duration_ms',
  'pageviews',
  'clicks',
  'errors',
  'bounced',
  'entry_path',
  'exit_path',
]);

/** An app, and from which start on its sessions are in `sessions`. */
interface SessionsOf {
  readonly app: AppId;
  readonly keptFrom: EpochMs;
}

/**
 * Sessions that started in the range, merged: one row each (started_at, session and the columns asked for: each
 * costs), with the whole session's totals and its resolved context. `only`: a condition on the start (of rows of `sessions AS s`).
 */
export function mergedSessions(
  { app, keptFrom }: SessionsOf,
  range: Range,
  columns: readonly SessionColumn[],
  only?: string,
): string {
  const started = `${ofApp(app)} AND ${inRanges('started_at', [range])}`;
  // A session lasts 24 h.
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
