import { join, type Sql, sql } from '../clickhouse/sql.ts';

/*
 * The words of a session, from the states of its rows. A state is a tuple of an offset and words; the
 * smallest one wins, ties are ordered by the words. The engine compares tuples value by value in its slowest
 * way. The same values as one text have the same order at a fraction of the cost: four bytes of offset,
 * highest first, then the words. Words hold no control characters, so NUL can separate them.
 */

const offsetOf = (state: Sql): Sql => sql`reinterpretAsFixedString(byteSwap(${state}.1))`;
const asText = (state: Sql): Sql => sql`concat(${offsetOf(state)}, ${state}.2)`;

/** SQL of the text of the smallest state in the group. */
export const firstText = (state: Sql): Sql => sql`substring(min(${asText(state)}), 5)`;

/** SQL of the text of the largest state in the group. */
export const lastText = (state: Sql): Sql => sql`substring(max(${asText(state)}), 5)`;

/**
 * SQL of an array with all words of the smallest state; `types` are those of the state's words. A number has
 * one digit.
 */
function firstWords(state: Sql, types: readonly ('text' | 'digit')[]): Sql {
  const words = types.map((type, i) =>
    type === 'text' ? sql`${state}.${i + 2}` : sql`toString(${state}.${i + 2})`,
  );
  return sql`splitByChar('\\0', substring(min(concat(${offsetOf(state)}, ${join(words, sql`, '\\0', `)})), 5))`;
}

/** States with more than one word, of rows of `sessions AS s`. */
export const FIRST = {
  /** User agent, browser, operating system, device. */
  technology: firstWords(sql`s.technology`, ['text', 'text', 'text', 'text']),
  /** The referrer, its host, and the channel that it indicates. */
  referrer: firstWords(sql`s.referrer`, ['text', 'text', 'digit']),
  /** The UTM source, and the channel that it indicates; the same of the medium. */
  source: firstWords(sql`s.utm_source`, ['text', 'digit']),
  medium: firstWords(sql`s.utm_medium`, ['text', 'digit']),
} as const;

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
