import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import { placeText } from './place.ts';
import { channelOf, GROUPED, type States } from './session-states.ts';

/**
 * SQL of a visitor in the facts, from the id. 128 bits identify a visitor there. No two ids collide in practice, and the
 * id itself stays in one place.
 */
export const visitorOf = (id: Sql): Sql => sql`reinterpretAsUInt128(sipHash128(${id}))`;

/** SQL of each column of a session; '' is absent. */
const COLUMNS = {
  events: ({ sum }) => sum('events'),
  duration_ms: ({ lastOffset }) => lastOffset,
  pageviews: ({ sum }) => sum('pageviews'),
  clicks: ({ sum }) => sum('clicks'),
  errors: ({ sum }) => sum('errors'),
  bounced: ({ sum }) => sql`${sum('pageviews')} <= 1 AND ${sum('clicks')} = 0 AND ${sum('customs')} = 0`,
  entry_page: ({ first }) => first('entry'),
  exit_page: ({ last }) => last('exit'),
  visitor: ({ first }) => visitorOf(first('visitor')),
  browser: ({ first }) => first('technology', 2),
  os: ({ first }) => first('technology', 3),
  device: ({ first }) => first('technology', 4),
  language: ({ first }) => first('language'),
  screen: ({ first }) => first('screen'),
  referrer: ({ first }) => first('referrer', 2),
  utm_source: ({ first }) => first('utm_source'),
  utm_medium: ({ first }) => first('utm_medium'),
  utm_campaign: ({ first }) => first('utm_campaign'),
  utm_term: ({ first }) => first('utm_term'),
  utm_content: ({ first }) => first('utm_content'),
  channel: ({ first }) =>
    channelOf(
      [first('referrer', 3), first('utm_source', 2), first('utm_medium', 2)],
      [first('utm_campaign'), first('utm_term'), first('utm_content')],
    ),
  country: ({ first }) => first('country'),
  region: ({ first }) => first('region'),
  city: ({ first }) => first('city'),
  place: ({ first, coordinate }) =>
    placeText(
      first('country'),
      first('region'),
      first('city'),
      coordinate('latitude'),
      coordinate('longitude'),
    ),
} as const satisfies Readonly<Record<string, (of: States) => Sql>>;
export type SessionColumn = keyof typeof COLUMNS;
export const SESSION_COLUMNS = Object.keys(COLUMNS) as SessionColumn[];

/** The columns of `sessions` that these columns are made of. */
export function statesOf(columns: readonly SessionColumn[]): ReadonlySet<string> {
  const states = new Set<string>();
  const note = (state: string): Sql => {
    states.add(state);
    return sql``;
  };
  const noted: States = {
    sum: note,
    first: note,
    last: note,
    coordinate: note,
    get lastOffset() {
      return note('last_offset');
    },
  };
  for (const column of columns) COLUMNS[column](noted);
  return states;
}

/** SQL of these columns, each under its name, for rows grouped by session, or in another form. */
export const sessionColumns = (columns: readonly SessionColumn[], form = GROUPED): Sql =>
  join(columns.map((name) => sql`${COLUMNS[name](form)} AS ${identifier(name)}`));
