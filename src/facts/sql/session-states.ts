import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';

/* The columns of a session, from the states of its rows (`sessions AS s`). A state is a tuple of an offset and words. */

/** Columns with states, and the types of their words. A digit is a channel (see ingestion/channels.ts). */
const WORDS = {
  visitor: ['text'],
  entry: ['text'],
  exit: ['text'],
  /** User agent, browser, operating system, device. */
  technology: ['text', 'text', 'text', 'text'],
  language: ['text'],
  screen: ['text'],
  /** The referrer, its host, and the channel that it indicates. */
  referrer: ['text', 'text', 'digit'],
  /** The UTM source, and the channel that it indicates; the same of the medium. */
  utm_source: ['text', 'digit'],
  utm_medium: ['text', 'digit'],
  utm_campaign: ['text'],
  utm_term: ['text'],
  utm_content: ['text'],
  country: ['text'],
  region: ['text'],
  city: ['text'],
} as const satisfies Readonly<Record<string, readonly ('text' | 'digit')[]>>;
type StateColumn = keyof typeof WORDS;

/** SQL of a session's values, from all of its rows together. */
export interface States {
  readonly sum: (column: 'events' | 'pageviews' | 'clicks' | 'errors' | 'customs') => Sql;
  readonly lastOffset: Sql;
  /** A word of the smallest state, counted from 1. The smallest offset wins, ties are ordered by the words. */
  readonly first: (column: StateColumn, word?: number) => Sql;
  /** The word of the largest state. */
  readonly last: (column: StateColumn) => Sql;
  /** The coordinate with the smallest offset. */
  readonly coordinate: (column: 'latitude' | 'longitude') => Sql;
}

const columnOf = (name: string): Sql => sql`s.${identifier(name)}`;

/**
 * A state as one text: four bytes of offset, highest first, then the words. It has the same order as the tuple. Words
 * hold no control characters, so NUL can separate them.
 */
function asText(column: StateColumn): Sql {
  const words = WORDS[column].map((type, i) => {
    const word = sql`${columnOf(column)}.${i + 2}`;
    return type === 'text' ? word : sql`toString(${word})`;
  });
  return sql`concat(reinterpretAsFixedString(byteSwap(${columnOf(column)}.1)), ${join(words, sql`, '\\0', `)})`;
}

function ofText(text: Sql, column: StateColumn, word: number): Sql {
  const words = sql`substring(${text}, 5)`;
  return WORDS[column].length === 1 ? words : sql`splitByChar('\\0', ${words})[${word}]`;
}

/**
 * For rows grouped by session. The engine compares tuples value by value in its slowest way, texts at a fraction of the
 * cost.
 */
export const GROUPED: States = {
  sum: (column) => sql`sum(${columnOf(column)})`,
  lastOffset: sql`max(s.last_offset)`,
  first: (column, word = 1) => ofText(sql`min(${asText(column)})`, column, word),
  last: (column) => ofText(sql`max(${asText(column)})`, column, 1),
  coordinate: (column) => sql`min(${columnOf(column)}).2`,
};

/** The same for a few rows: the tuples themselves are compared. Such a statement is planned in less time. */
export const GROUPED_FEW: States = {
  ...GROUPED,
  first: (column, word = 1) => sql`min(${columnOf(column)}).${word + 1}`,
  last: (column) => sql`max(${columnOf(column)}).2`,
};

/** For rows of `sessions AS s FINAL`, one for each session. */
export const FINAL: States = {
  sum: columnOf,
  lastOffset: sql`s.last_offset`,
  first: (column, word = 1) => sql`${columnOf(column)}.${word + 1}`,
  last: (column) => sql`${columnOf(column)}.2`,
  coordinate: (column) => sql`${columnOf(column)}.2`,
};

/**
 * SQL of a session's channel, from the channels that its words indicate (see ingestion/channels.ts) and its
 * other UTM words.
 */
export function channelOf(signals: readonly Sql[], others: readonly Sql[]): Sql {
  const numbers = join(signals.map((signal) => sql`toUInt8(${signal})`));
  const present = others.map((word) => sql`${word} != ''`);
  return sql`['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(${numbers},
        if(${join(present, sql` OR `)}, 5, 7))]`;
}
