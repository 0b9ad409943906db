/**
 * Thrown if late events change more than a question can correct. Raw rows then answer from the first late
 * hour on.
 */
export class TooManyLate extends Error {}

/** A correction to the counts of a session and pair in a sealed hour: to be added (1) or subtracted (-1). */
export interface LateKey {
  readonly sign: 1 | -1;
  /** Epoch ms. */
  readonly hour: number;
  /** The kind and the key. */
  readonly pair: string;
  readonly events: number;
  readonly engagedMs: number;
  readonly engagements: number;
  /**
   * The pair's last occurrence before the hour (epoch ms); -1 if there is none. Only for pages and errors.
   */
  readonly prevAt: number;
  /** The pair's first occurrence in the hour. */
  readonly firstAt: number;
}
