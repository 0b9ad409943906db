/*
 * Words of a session from the states of its rows: a state is a tuple of an offset and words, the smallest counts, ties by the words. The
 * engine compares tuples value by value in its slowest way; as one text, the four bytes of the offset in front, the highest first, they
 * have the same order and a fraction of the cost. Words hold no control characters, so that NUL can stand between them.
 */

const offsetOf = (state: string): string => `reinterpretAsFixedString(byteSwap(${state}.1))`;
const asText = (state: string): string => `concat(${offsetOf(state)}, ${state}.2)`;

/** The text of the smallest state in the group. */
export const firstText = (state: string): string => `substring(min(${asText(state)}), 5)`;

/** The text of the largest. */
export const lastText = (state: string): string => `substring(max(${asText(state)}), 5)`;

/** All words of the smallest state, an array; `types` as they are in the state. A number has one digit. */
function firstWords(state: string, types: readonly ('text' | 'digit')[]): string {
  const words = types.map((type, i) =>
    type === 'text' ? `${state}.${i + 2}` : `toString(${state}.${i + 2})`,
  );
  return `splitByChar('\\0', substring(min(concat(${offsetOf(state)}, ${words.join(", '\\0', ")})), 5))`;
}

/** The states of more than one word, of rows of `sessions AS s`. */
export const FIRST = {
  /** User agent, browser, operating system, device. */
  technology: firstWords('s.technology', ['text', 'text', 'text', 'text']),
  /** The referrer, its host, and the channel that it speaks for. */
  referrer: firstWords('s.referrer', ['text', 'text', 'digit']),
  /** The source, the medium, each with the channel that it speaks for. */
  source: firstWords('s.utm_source', ['text', 'digit']),
  medium: firstWords('s.utm_medium', ['text', 'digit']),
} as const;

/** The channel of a session, from the channels that its words speak for (see ingestion/channels.ts) and its other UTM words. */
export const channelOf = (
  signals: readonly string[],
  others: readonly string[],
): string => `['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][least(${signals.map((signal) => `toUInt8(${signal})`).join(', ')},
        if(${others.map((word) => `${word} != ''`).join(' OR ')}, 5, 7))]`;
