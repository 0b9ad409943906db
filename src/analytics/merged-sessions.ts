import { identifier, join, type Sql, sql } from '../clickhouse/sql.ts';
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
  events: sql`sum(s.events)`,
  duration_ms: sql`max(s.last_offset)`,
  pageviews: sql`sum(s.pageviews)`,
  clicks: sql`sum(s.clicks)`,
  errors: sql`sum(s.errors)`,
  bounced: sql`sum(s.pageviews) <= 1 AND sum(s.clicks) = 0 AND sum(s.customs) = 0`,
  entry_page: firstText(sql`s.entry`),
  exit_page: lastText(sql`s.exit`),
  // 128 bits identify a visitor in the facts. No two ids collide in practice, and the id itself stays in one
  // place.
  visitor: sql`reinterpretAsUInt128(sipHash128(${firstText(sql`s.visitor`)}))`,
  browser: sql`${FIRST.technology}[2]`,
  os: sql`${FIRST.technology}[3]`,
  device: sql`${FIRST.technology}[4]`,
  language: firstText(sql`s.language`),
  screen: firstText(sql`s.screen`),
  referrer: sql`${FIRST.referrer}[2]`,
  utm_source: sql`${FIRST.source}[1]`,
  utm_medium: sql`${FIRST.medium}[1]`,
  utm_campaign: firstText(sql`s.utm_campaign`),
  utm_term: firstText(sql`s.utm_term`),
  utm_content: firstText(sql`s.utm_content`),
  channel: channelOf(
    [sql`${FIRST.referrer}[3]`, sql`${FIRST.source}[2]`, sql`${FIRST.medium}[2]`],
    [firstText(sql`s.utm_campaign`), firstText(sql`s.utm_term`), firstText(sql`s.utm_content`)],
  ),
  country: firstText(sql`s.country`),
  place: placeText(
    firstText(sql`s.country`),
    firstText(sql`s.region`),
    firstText(sql`s.city`),
    sql`min(s.latitude).2`,
    sql`min(s.longitude).2`,
  ),
} as const satisfies Record<string, Sql>;
export type SessionColumn = keyof typeof COLUMNS;

/** SQL of the columns, each under its name, for rows of `sessions AS s` grouped by session. */
export const mergedColumns = (columns: readonly SessionColumn[]): Sql =>
  join(columns.map((name) => sql`${COLUMNS[name]} AS ${identifier(name)}`));

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
  only?: Sql,
): Sql {
  const started = sql`${ofApp(app)} AND ${inRanges(sql`started_at`, [range])}`;
  // A session lasts at most 24 h.
  const events = { from: range.from, to: epochMs(range.to + DAY_MS) };
  const fromEvents = columns.some((column) => OF_ALL_EVENTS.has(column))
    ? rowsFromEvents
    : contextsFromEvents;
  const rows = range.from >= keptFrom ? sql`sessions` : fromEvents(sql`${started} AND ${inHours([events])}`);
  return sql`
SELECT s.started_at AS started_at, s.session AS session, ${mergedColumns(columns)}
FROM ${rows} AS s
WHERE ${started}${only === undefined ? sql`` : sql` AND ${only}`}
GROUP BY s.started_at, s.session`;
}
