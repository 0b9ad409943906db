import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import { type SessionColumn, statesOf } from './session-columns.ts';

/*
 * Rows with the columns of `sessions`, made from events. Sealed sessions are deleted from `sessions` after a
 * day and a half (see purge.ts). Repairs, rebuilds and questions that need them later merge them from these
 * rows.
 */

const NONE = sql`toUInt32(4294967295)`;
const ofPage = (none: Sql) => sql`if(type = 'pageview', (at, toString(path)), (${none}, ''))`;
const first =
  (...words: readonly Sql[]) =>
  (nothing: Sql) =>
    sql`if(has_context = 1, (at, ${join(words)}), (${NONE}, ${nothing}))`;
const firstWord = (column: Sql) => first(sql`toString(${column})`)(sql`''`);

const STATES: Readonly<Record<string, Sql>> = {
  last_offset: sql`at`,
  events: sql`toUInt64(1)`,
  pageviews: sql`toUInt64(type = 'pageview')`,
  clicks: sql`toUInt64(type = 'click')`,
  errors: sql`toUInt64(type = 'error')`,
  customs: sql`toUInt64(type = 'custom')`,
  entry: ofPage(NONE),
  exit: ofPage(sql`toUInt32(0)`),
  visitor: firstWord(sql`visitor_id`),
  technology: first(
    sql`toString(user_agent)`,
    sql`toString(browser)`,
    sql`toString(os)`,
    sql`toString(device)`,
  )(sql`'', '', '', ''`),
  language: firstWord(sql`language`),
  screen: firstWord(sql`screen`),
  referrer: first(sql`referrer`, sql`toString(referrer_host)`, sql`referrer_signal`)(sql`'', '', toUInt8(0)`),
  utm_source: first(sql`toString(utm_source)`, sql`source_signal`)(sql`'', toUInt8(0)`),
  utm_medium: first(sql`toString(utm_medium)`, sql`medium_signal`)(sql`'', toUInt8(0)`),
  utm_campaign: firstWord(sql`utm_campaign`),
  utm_term: firstWord(sql`utm_term`),
  utm_content: firstWord(sql`utm_content`),
  country: firstWord(sql`country`),
  region: firstWord(sql`region`),
  city: firstWord(sql`city`),
  latitude: first(sql`latitude`)(sql`toFloat64(0)`),
  longitude: first(sql`longitude`)(sql`toFloat64(0)`),
};

/**
 * Returns a subquery in the place of `sessions`: one row for each event that satisfies `where`, plus `more`
 * columns of `events`. It has the states of these columns of a session. Each state takes time to plan.
 */
export function rowsFromEvents(where: Sql, columns: readonly SessionColumn[], more = sql``): Sql {
  const needed = statesOf(columns);
  const states = Object.entries(STATES).flatMap(([name, state]) =>
    needed.has(name) ? sql`${state} AS ${identifier(name)}` : [],
  );
  return sql`(
    WITH toUInt32(toUnixTimestamp64Milli(timestamp) - toUnixTimestamp64Milli(started_at)) AS at
    SELECT ${join([sql`app_id`, sql`started_at`, sql`session`, ...states], sql`,\n        `)}${more}
    FROM events
    WHERE ${where}
)`;
}

/**
 * The same, with only the rows that have a context: at least one for each session. Enough if only the context
 * is needed.
 */
export const contextsFromEvents = (where: Sql, columns: readonly SessionColumn[]): Sql =>
  rowsFromEvents(sql`${where} AND has_context = 1`, columns);
