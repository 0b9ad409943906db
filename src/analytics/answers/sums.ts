/* Declares once how sums over sessions and over events add up. Statements are derived from these declarations. */

/** An additive figure of sessions. For one session its value is 1, a column, or 1 if the column is not 0. */
interface SessionSum {
  /** A column of merged sessions and of `session_facts`; null counts 1 for each session. */
  readonly of: 'bounced' | 'duration_ms' | 'pageviews' | 'clicks' | 'errors' | null;
  readonly counts: 'values' | 'sessions';
  /** The column of `session_sums` that holds the sum of a bucket. */
  readonly column: string;
}

/**
 * The additive figures of the sessions that started in a range. Pageviews and clicks are those of these
 * sessions, in the range or after it.
 */
export const SESSION_SUMS = {
  sessions: { of: null, counts: 'sessions', column: 'sessions' },
  bounces: { of: 'bounced', counts: 'values', column: 'bounces' },
  durationMs: { of: 'duration_ms', counts: 'values', column: 'duration_ms' },
  pageviews: { of: 'pageviews', counts: 'values', column: 'pageviews' },
  clicks: { of: 'clicks', counts: 'values', column: 'clicks' },
  withErrors: { of: 'errors', counts: 'sessions', column: 'with_errors' },
} as const satisfies Readonly<Record<string, SessionSum>>;

/**
 * The additive figures of events: the number of events of a type. Each is a column of `traffic` with the same
 * name.
 */
export const EVENT_SUMS = { pageviews: 'pageview', clicks: 'click', errors: 'error' } as const;
