import { z } from 'zod';
import { byName } from '../../domain/by-name.ts';
import type { Facts } from '../ask.ts';
import { SESSION_SUMS, type SessionValues } from '../figures.ts';
import type { Span } from '../plan.ts';
import { inMs } from '../sql.ts';
import { type HourRows, pairsByKey } from './cut-hours.ts';

type SumName = keyof typeof SESSION_SUMS;
type SumColumn = keyof SessionValues;

/** Sums over the sessions that started in a range. Pageviews and clicks are those of these sessions. */
export type SessionTotals = { [Name in SumName | 'visitors' | 'newVisitors']: number };

const SUMS = Object.entries(SESSION_SUMS).map(([name, sum]) => ({ name: name as SumName, ...sum }));
const NAMES = [...SUMS.map(({ name }) => name), 'visitors', 'newVisitors'] as const;

export const SESSION_TOTALS = z.object(byName(NAMES, () => z.number()));
export const NO_SESSIONS: SessionTotals = byName(NAMES, () => 0);

/** Adds a session to `totals`, `times` times. Visitors are counted elsewhere. */
export function addSession(totals: Partial<SessionTotals>, values: SessionValues, times = 1): void {
  for (const { name, of, counts } of SUMS) {
    totals[name] = (totals[name] ?? 0) + times * counted(of === null ? 1 : values[of], counts);
  }
}

const counted = (value: number, counts: 'values' | 'sessions'): number =>
  counts === 'values' ? value : Number(value > 0);

/** SQL of all sums over rows of sessions, named `s`. */
export const SUMS_OF_SESSIONS = SUMS.map(({ name, of, counts }) => {
  if (of === null) return `count() AS ${name}`;
  return `${counts === 'values' ? `sum(s.${of})` : `countIf(s.${of} > 0)`} AS ${name}`;
}).join(', ');

/** SQL of the same sums in a row of `session_sums`. */
export const SUMS_OF_BUCKET = SUMS.map(({ name, column }) => `${column} AS ${name}`).join(', ');

/** The columns of merged sessions that the sums need. */
export const SUM_COLUMNS: readonly SumColumn[] = SUMS.flatMap(({ of }) => of ?? []);

/** Names the values of a session, which are in the order of `SUM_COLUMNS`. */
export const sessionValues = (values: readonly number[]): SessionValues =>
  Object.fromEntries(SUM_COLUMNS.map((column, i) => [column, values[i] ?? 0])) as SessionValues;

/** The row schema of these values. */
export const SESSION_VALUES = byName(SUM_COLUMNS, () => z.number());

/** A session of an hour: start, prev, and its values. */
const SESSION = z.tuple([z.number(), z.number()]).rest(z.number());
const WIDTH = 2 + SUM_COLUMNS.length;
/** The position of each sum's value in a session's array; null if the value is 1. */
const PLACES = SUMS.map(({ name, of, counts }) => ({
  name,
  counts,
  at: of === null ? null : 2 + SUM_COLUMNS.indexOf(of),
}));

/** Loads the sessions that started in an hour. */
export const sessionsOfHour = (facts: Facts): HourRows<z.infer<typeof SESSION>, Float64Array> => ({
  name: 'session hour',
  sql: (hour) => `SELECT started_at, prev, ${SUM_COLUMNS.join(', ')} FROM session_facts
WHERE ${facts.where} AND ${inMs('started_at', [hour])}`,
  row: SESSION,
  make: (rows) => {
    const sessions = new Float64Array(rows.length * WIDTH);
    for (const [i, row] of rows.entries()) sessions.set(row, i * WIDTH);
    return sessions;
  },
});

/**
 * Sums the sessions that started in `part`. A session counts as a visitor if its prev is less than
 * `prevBefore`.
 */
export function totalsOf(sessions: Float64Array, { start, end }: Span, prevBefore: number): SessionTotals {
  const totals = { ...NO_SESSIONS };
  for (let first = 0; first < sessions.length; first += WIDTH) {
    const startedAt = sessions[first] as number;
    if (startedAt < start || startedAt >= end) continue;
    const prev = sessions[first + 1] as number;
    if (prev < prevBefore) totals.visitors++;
    if (prev === -1) totals.newVisitors++;
    for (const { name, at, counts } of PLACES) {
      totals[name] += at === null ? 1 : counted(sessions[first + at] as number, counts);
    }
  }
  return totals;
}

/** Loads returning sessions by the hour of prev: pairs (prev, start), without a key. */
export const returnsOfHour = (facts: Facts) =>
  pairsByKey(
    'returns of an hour',
    z.literal(''),
    (hour) => `SELECT '', groupArray((prev, started_at)) FROM session_returns
WHERE ${facts.where} AND ${inMs('prev', [hour])}`,
  );
