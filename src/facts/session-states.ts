/*
 * The words of a session, from the states of its rows. A state is a tuple of an offset and words; the
 * smallest one wins, ties are ordered by the words. The engine compares tuples value by value in its slowest
 * way. The same values as one text have the same order at a fraction of the cost: four bytes of offset,
 * highest first, then the words. Words hold no control characters, so NUL can separate them.
 */

const offsetOf = (state: string): string => `reinterpretAsFixedString(byteSwap(${state}.1))`;
const asText = (state: string): string => `concat(${offsetOf(state)}, ${state}.2)`;

/** SQL of the text of the smallest state in the group. */
export const firstText = (state: string): string => `substring(min(${asText(state)}), 5)`;

/** SQL of the text of the largest state in the group. */
export const lastText = (state: string): string => `substring(max(${asText(state)}), 5)`;

/**
 * SQL of an array with all words of the smallest state; `types` are those of the state's words. A number has
 * one digit.
 */
function firstWords(state: string, types: readonly ('text' | 'digit')[]): string {
  const words = types.map((type, i) =>
    type === 'text' ? `${state}.${i + 2}` : `toString(${state}.${i + 2})`,
  );
  return `splitByChar('\\0', substring(min(concat(${offsetOf(state)}, ${words.join(", '\\0', ")})), 5))`;
}

/** States with more than one word, of rows of `sessions AS s`. */
export const FIRST = {
  /** User agent, browser, operating system, device. */
  technology: firstWords('s.technology', ['text', 'text', 'text', 'text']),
  /** The referrer, its host, and the channel that it indicates. */
  referrer: firstWords('s.referrer', ['text', 'text', 'digit']),
  /** The UTM source, and the channel that it indicates; the same of the medium. */
  source: firstWords('s.utm_source', ['text', 'digit']),
  medium: firstWords('s.utm_medium', ['text', 'digit']),
} as const;

/**
 * SQL of a session's channel, from the channels that its words indicate (see ingestion/channels.ts) and its
 * other UTM words.
 */
export const channelOf = (
  signals: readonly string[],
  others: readonly string[],
): string => `['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(${signals.map((signal) => `toUInt8(${signal})`).join(', ')},
        if(${others.map((word) => `${word} != ''`).join(' OR ')}, 5, 7))]`;
