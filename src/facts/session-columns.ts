import { identifier, join, type Sql, sql } from '../clickhouse/sql.ts';
import { placeText } from './place.ts';
import { channelOf, FIRST, firstText, lastText } from './session-states.ts';

/**
 * SQL of each column of a session, from the states of its rows, for rows of `sessions AS s` grouped by session; '' is
 * absent. The first part of a state is a time.
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

/** SQL of these columns, each under its name. */
export const sessionColumns = (columns: readonly SessionColumn[]): Sql =>
  join(columns.map((name) => sql`${COLUMNS[name]} AS ${identifier(name)}`));
