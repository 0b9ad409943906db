import { inHours, inRanges, ofApp } from '../../clickhouse/literals.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, type EpochMs, epochMs, type Range } from '../../domain/time.ts';
import { type SessionColumn, sessionColumns } from '../../facts/sql/session-columns.ts';
import { contextsFromEvents, rowsFromEvents } from '../../facts/sql/session-rows.ts';
import { FINAL } from '../../facts/sql/session-states.ts';

/**
 * Columns that need all events of a session. The others only need its events with a context; each session has
 * at least one.
 */
const OF_ALL_EVENTS: ReadonlySet<SessionColumn> = new Set([
  'events',
  'duration_ms',
  'pageviews',
  'clicks',
  'errors',
  'bounced',
  'entry_page',
  'exit_page',
]);

/** `sessions` holds all of the app's sessions that started at `keptFrom` or later. */
interface SessionsOf {
  readonly app: AppId;
  readonly keptFrom: EpochMs;
}

/**
 * SQL of the sessions that started in the range, merged: one row each (started_at, session and `columns`),
 * with the totals and the context of the whole session. Each column costs time.
 */
export function mergedSessions(
  { app, keptFrom }: SessionsOf,
  range: Range,
  columns: readonly SessionColumn[],
): Sql {
  const started = sql`${ofApp(app)} AND ${inRanges(sql`started_at`, [range])}`;
  // A session lasts at most 24 h.
  const events = { from: range.from, to: epochMs(range.to + DAY_MS) };
  const fromEvents = columns.some((column) => OF_ALL_EVENTS.has(column))
    ? rowsFromEvents
    : contextsFromEvents;
  const rows =
    range.from >= keptFrom ? sql`sessions` : fromEvents(sql`${started} AND ${inHours([events])}`, columns);
  return sql`
SELECT s.started_at AS started_at, s.session AS session, ${sessionColumns(columns)}
FROM ${rows} AS s
WHERE ${started}
GROUP BY s.started_at, s.session`;
}

/**
 * The same from `sessions`, which holds all of them: the engine merges 40,000 sessions in two thirds of the time, and a
 * few in half of it, because such a statement is planned sooner. `starts`: see `Pending`.
 */
export const finalSessions = (
  app: AppId,
  range: Range,
  columns: readonly SessionColumn[],
  starts?: Sql,
): Sql => sql`
SELECT s.started_at AS started_at, s.session AS session${columns.length === 0 ? sql`` : sql`, ${sessionColumns(columns, FINAL)}`}
FROM sessions AS s FINAL
PREWHERE ${ofApp(app)} AND ${inRanges(sql`s.started_at`, [range])}${starts === undefined ? sql`` : sql` AND s.started_at IN (${starts})`}`;
