/*
 * Words of a session from the states of its rows: a state is a tuple of an offset and a text, the smallest counts, ties by text. The
 * engine compares tuples value by value in its slowest way; as one text, the offset in front in ten digits, they have the same
 * order and a tenth of the cost.
 */

const asText = (state: string): string => `concat(leftPad(toString(${state}.1), 10, '0'), ${state}.2)`;

/** The text of the smallest state in the group. */
export const firstText = (state: string): string => `substring(min(${asText(state)}), 11)`;

/** The text of the largest. */
export const lastText = (state: string): string => `substring(max(${asText(state)}), 11)`;
