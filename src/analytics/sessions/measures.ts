import { identifier, join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import { byName } from '../../domain/by-name.ts';
import type { SessionColumn } from '../../facts/sql/session-columns.ts';
import { UTM } from '../../facts/sql/tables.ts';
import { DIMENSIONS, NO_PAGE } from '../answers/dimensions.ts';
import { SESSION_SUMS } from '../answers/sums.ts';
import { joined, type Row } from '../memory/rows.ts';

/**
 * How sessions are counted one by one, for a question: under which keys, with which values. The expressions
 * are the same over merged sessions and over facts, because both have the same columns.
 */
export interface Measure {
  readonly name: string;
  /** Columns of merged sessions that the expressions need. */
  readonly columns: readonly SessionColumn[];
  /** SQL of the keys (Array(String)) under which a session counts; null if it counts without a key. */
  readonly keys: Sql | null;
  /** SQL of each value that is summed, besides the number of sessions. */
  readonly values: readonly Sql[];
  /** The facts that hold the sessions. */
  readonly table: Sql;
  /** Where visitors are found; null if they are not counted. */
  readonly visits: Visits | null;
}

/** The tables of the sealed sessions of each visitor and key. */
export interface Visits {
  readonly table: Sql;
  /** The key, in these tables; '' without keys. */
  readonly key: Sql;
  /** Sessions of returning visitors: by prev, and their number by pairs of days. */
  readonly returns: Sql;
  readonly pairs: Sql;
}

type SumName = keyof typeof SESSION_SUMS;
const SUM_NAMES = Object.keys(SESSION_SUMS) as SumName[];
const SUMS = Object.values(SESSION_SUMS);

/** The columns of merged sessions and of `session_facts` that the sums need. */
const SUM_COLUMNS = SUMS.flatMap(({ of }) => of ?? []);

/** All additive figures of sessions, with visitors. */
export const TOTALS: Measure = {
  name: 'totals',
  columns: SUM_COLUMNS,
  keys: null,
  values: SUMS.flatMap(({ of, counts }) =>
    of === null ? [] : counts === 'values' ? identifier(of) : sql`${identifier(of)} > 0`,
  ),
  table: sql`session_facts`,
  visits: {
    table: sql`visitor_sessions`,
    key: sql`''`,
    returns: sql`session_returns`,
    pairs: sql`return_pairs`,
  },
};

/** Sums over the sessions that started in a range. Pageviews and clicks are those of these sessions. */
export type SessionTotals = { [Name in SumName | 'visitors' | 'newVisitors']: number };
const TOTAL_NAMES = [...SUM_NAMES, 'visitors', 'newVisitors'] as const;

/** Names the sums of a row of `TOTALS`. */
export const totalsOf = (sums: readonly number[] = []): SessionTotals =>
  byName(TOTAL_NAMES, (_, i) => sums[i] ?? 0);

/**
 * SQL of the sums of `TOTALS` over rows of `session_sums AS s`. `visitors` is the column that counts them. Each column
 * takes time, so sums that are not among `names` are 0.
 */
export const sumsOfBucket = (
  visitors: 'sessions' | 'day_visitors' | 'tehran_visitors',
  names: readonly (keyof SessionTotals)[] = TOTAL_NAMES,
): Sql => {
  const columns = [...SUMS.map(({ column }) => column), visitors, 'new_visitors'];
  return join(
    TOTAL_NAMES.map((name, i) =>
      names.includes(name) ? sql`sum(s.${identifier(columns[i] as string)})` : sql`0`,
    ),
  );
};

const NO_PAGE_LETTERS = join(NO_PAGE.map(quoted));
const LISTED = Object.values(DIMENSIONS);
const WORDS = LISTED.map(({ letter, column }) => sql`concat(${quoted(letter)}, ${identifier(column)})`);

/** The lists of the overview: a key is the list's letter and the value. */
export const LISTS: Measure = {
  name: 'lists',
  columns: LISTED.map(({ column }) => column),
  keys: sql`arrayMap(word -> if(length(word) = 1, concat(word, '(none)'), word), arrayFilter(word -> word NOT IN (${NO_PAGE_LETTERS}),
        [${join(WORDS)}]))`,
  values: [],
  table: sql`session_facts`,
  visits: null,
};

/** Places as text, see facts/sql/place.ts. */
export const PLACES: Measure = {
  name: 'places',
  columns: ['place'],
  keys: sql`if(place = '', []::Array(String), [toString(place)])`,
  values: [],
  table: sql`session_facts`,
  visits: null,
};

/** SQL of a campaign as one text. */
export const CAMPAIGN = joined(UTM.map(identifier));

/** Campaigns: source, medium, campaign, term and content as one text. Only tagged sessions have one. */
export const CAMPAIGNS: Measure = {
  name: 'campaigns',
  columns: UTM,
  keys: sql`if(utm_source = '', []::Array(String), [${CAMPAIGN}])`,
  values: [],
  table: sql`utm_facts`,
  visits: { table: sql`utm_facts`, key: CAMPAIGN, returns: sql`utm_returns`, pairs: sql`utm_return_pairs` },
};

/** SQL of the keys of a session: '' without keys. */
export const keysOf = ({ keys }: Measure): Sql => keys ?? sql`['']`;

/** The number of sums in a row: sessions and values; with visits also visitors and new visitors. */
export const widthOf = ({ values, visits }: Measure): number => 1 + values.length + (visits === null ? 0 : 2);

/** A row that counts nothing but visitors. */
export const visitorsRow = (measure: Measure, key: string, visitors: number, newVisitors = 0): Row => [
  key,
  ...new Array<number>(widthOf(measure) - 2).fill(0),
  visitors,
  newVisitors,
];

/** The columns of merged sessions that the measure needs: with the visitor if visitors are counted. */
export const columnsOf = ({ columns, visits }: Measure): readonly SessionColumn[] =>
  visits === null ? columns : [...columns, 'visitor'];
