/*
 * Rows with the columns of `sessions`, made from events. Sealed sessions are deleted from `sessions` after a
 * day and a half (see purge.ts). Repairs, rebuilds and questions that need them later merge them from these
 * rows.
 */

const NONE = 'toUInt32(4294967295)';
const ofPage = (none: string) => `if(type = 'pageview', (at, toString(path)), (${none}, ''))`;
const first =
  (...words: readonly string[]) =>
  (nothing: string) =>
    `if(has_context = 1, (at, ${words.join(', ')}), (${NONE}, ${nothing}))`;
const firstWord = (column: string) => first(`toString(${column})`)("''");

const STATES: Readonly<Record<string, string>> = {
  last_offset: 'at',
  events: 'toUInt64(1)',
  pageviews: "toUInt64(type = 'pageview')",
  clicks: "toUInt64(type = 'click')",
  errors: "toUInt64(type = 'error')",
  customs: "toUInt64(type = 'custom')",
  entry: ofPage(NONE),
  exit: ofPage('toUInt32(0)'),
  visitor: firstWord('visitor_id'),
  technology: first(
    'toString(user_agent)',
    'toString(browser)',
    'toString(os)',
    'toString(device)',
  )("'', '', '', ''"),
  language: firstWord('language'),
  screen: firstWord('screen'),
  referrer: first('referrer', 'toString(referrer_host)', 'referrer_signal')("'', '', toUInt8(0)"),
  utm_source: first('toString(utm_source)', 'source_signal')("'', toUInt8(0)"),
  utm_medium: first('toString(utm_medium)', 'medium_signal')("'', toUInt8(0)"),
  utm_campaign: firstWord('utm_campaign'),
  utm_term: firstWord('utm_term'),
  utm_content: firstWord('utm_content'),
  country: firstWord('country'),
  region: firstWord('region'),
  city: firstWord('city'),
  latitude: first('latitude')('toFloat64(0)'),
  longitude: first('longitude')('toFloat64(0)'),
};

/**
 * Returns a subquery in the place of `sessions`: one row for each event that satisfies `where`, plus `more`
 * columns of `events`.
 */
export const rowsFromEvents = (where: string, more = ''): string => `(
    WITH toUInt32(toUnixTimestamp64Milli(timestamp) - toUnixTimestamp64Milli(started_at)) AS at
    SELECT app_id, started_at, sipHash64(session_id) AS session,
        ${Object.entries(STATES)
          .map(([column, state]) => `${state} AS ${column}`)
          .join(',\n        ')}${more}
    FROM events
    WHERE ${where}
)`;

/**
 * The same, with only the rows that have a context: at least one for each session. Enough if only the context
 * is needed.
 */
export const contextsFromEvents = (where: string): string => rowsFromEvents(`${where} AND has_context = 1`);
