import { z } from 'zod';
import type { Facts } from '../ask.ts';
import type { Span } from '../plan.ts';
import { inMs } from '../sql.ts';
import { type HourRows, pairsByKey } from './cut-hours.ts';

export const SESSION_TOTALS = z.object({
  sessions: z.number(),
  visitors: z.number(),
  newVisitors: z.number(),
  bounces: z.number(),
  durationMs: z.number(),
  pageviews: z.number(),
  clicks: z.number(),
  withErrors: z.number(),
});

/** Sums over the sessions that started in a range; pageviews and clicks are the sessions' own. */
export type SessionTotals = z.infer<typeof SESSION_TOTALS>;

export const NO_SESSIONS: SessionTotals = {
  sessions: 0,
  visitors: 0,
  newVisitors: 0,
  bounces: 0,
  durationMs: 0,
  pageviews: 0,
  clicks: 0,
  withErrors: 0,
};

/** A session of an hour: start, prev, bounced, duration, pageviews, clicks, errors. */
const SESSION = z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]);
const WIDTH = 7;

/** The sessions that started in an hour. */
export const sessionsOfHour = (facts: Facts): HourRows<z.infer<typeof SESSION>, Float64Array> => ({
  name: 'session hour',
  sql: (hour) => `SELECT started_at, prev, bounced, duration_ms, pageviews, clicks, errors FROM session_facts
WHERE ${facts.where} AND ${inMs('started_at', [hour])}`,
  row: SESSION,
  make: (rows) => {
    const sessions = new Float64Array(rows.length * WIDTH);
    for (const [i, row] of rows.entries()) sessions.set(row, i * WIDTH);
    return sessions;
  },
});

/** Of the sessions that started in `part`; visitors are those whose session before started earlier than `prevBefore`. */
export function totalsOf(sessions: Float64Array, { start, end }: Span, prevBefore: number): SessionTotals {
  const totals = { ...NO_SESSIONS };
  for (let at = 0; at < sessions.length; at += WIDTH) {
    const startedAt = sessions[at] as number;
    if (startedAt < start || startedAt >= end) continue;
    const prev = sessions[at + 1] as number;
    totals.sessions++;
    if (prev < prevBefore) totals.visitors++;
    if (prev === -1) totals.newVisitors++;
    totals.bounces += sessions[at + 2] as number;
    totals.durationMs += sessions[at + 3] as number;
    totals.pageviews += sessions[at + 4] as number;
    totals.clicks += sessions[at + 5] as number;
    if ((sessions[at + 6] as number) > 0) totals.withErrors++;
  }
  return totals;
}

/** Returning sessions by the hour of the one before: pairs of both starts, without a key. */
export const returnsOfHour = (facts: Facts) =>
  pairsByKey(
    'returns of an hour',
    z.literal(''),
    (hour) => `SELECT '', groupArray((prev, started_at)) FROM session_returns
WHERE ${facts.where} AND ${inMs('prev', [hour])}`,
  );
