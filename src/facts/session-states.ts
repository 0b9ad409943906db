/*
 * Words of a session from the states of its rows: a state is a tuple of an offset and a text, the smallest counts, ties by text. The
 * engine compares tuples value by value in its slowest way; as one text, the four bytes of the offset in front, the highest first, they
 * have the same order and a fraction of the cost.
 */

const asText = (state: string): string =>
  `concat(reinterpretAsFixedString(byteSwap(${state}.1)), ${state}.2)`;

/** The text of the smallest state in the group. */
export const firstText = (state: string): string => `substring(min(${asText(state)}), 5)`;

/** The text of the largest. */
export const lastText = (state: string): string => `substring(max(${asText(state)}), 5)`;
