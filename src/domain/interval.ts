/** The local units of a series. */
export const INTERVALS = ['hour', 'day', 'week', 'month'] as const;

/** Which units, of which zone. */
export interface SeriesQuestion {
  readonly interval: (typeof INTERVALS)[number];
  /** An IANA name or a fixed offset, `±HH:MM`. */
  readonly timezone: string;
}
