import type { Params } from '../../clickhouse/database.ts';
import { inRanges } from '../../clickhouse/literals.ts';
import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import { epochMs, type Range } from '../../domain/time.ts';
import { isHeld } from '../../facts/late.ts';
import { type SessionColumn, sessionColumns } from '../../facts/sql/session-columns.ts';
import { rowsFromEvents } from '../../facts/sql/session-rows.ts';
import { GROUPED_FEW } from '../../facts/sql/session-states.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { type LateEvents, lateEventsOf } from './late.ts';
import { finalSessions, mergedSessions } from './merged.ts';

/*
 * A session is pending if the facts do not hold it as it is now: it is not sealed yet, or it has late events. Its
 * contribution is signed rows: -1 as the facts have it, if they do, and 1 as it is now.
 */

export interface Pending {
  /**
   * SQL of the rows: sign, started_at (DateTime64), and `columns`. Null if none can lie in the range, which all of them lie in
   * otherwise.
   */
  rows(range: Range, columns: readonly SessionColumn[]): Sql | null;
  /** The same of sessions that are not sealed. They change with each version. */
  unsealed(range: Range, columns: readonly SessionColumn[]): Sql | null;
  /** The same of sealed sessions. They change with late events alone. */
  late(range: Range, columns: readonly SessionColumn[]): Sql | null;
  /**
   * SQL of the rows as they are now: started_at (epoch ms), session, and `columns`. Null if none can lie in the range. `starts`,
   * SQL of rows of a DateTime64, narrows the sessions down to those that start then.
   */
  now(range: Range, columns: readonly SessionColumn[], starts?: Sql): Sql | null;
  /** SQL condition on `started_at` (epoch ms) and `session` of a sealed session: it is pending. Null: none is. */
  readonly isLate: Sql | null;
  readonly params: Params;
}

/** Finds the pending sessions of an app. Throws `TooManyLate`. */
export async function pendingSessions(facts: SessionFacts): Promise<Pending> {
  const found = await lateEventsOf(facts, 'session', facts.lateHours);
  const unsealed: Pending['rows'] = (range, columns) => {
    const rows = unsealedRows(facts, range, columns);
    return rows && sql`SELECT toInt8(1) AS sign, started_at, ${named(columns)} FROM (${rows})`;
  };
  const late: Pending['rows'] = (range, columns) => found && lateRows(facts, found, range, columns);
  return {
    params: found?.params ?? {},
    isLate: found?.isSession ?? null,
    rows: (range, columns) => union([unsealed(range, columns), late(range, columns)]),
    unsealed,
    late,
    now: (range, columns, starts) => {
      const rows = unsealedRows(facts, range, columns, starts);
      return union([
        rows &&
          sql`SELECT toUnixTimestamp64Milli(started_at) AS started_at, session, ${named(columns)} FROM (${rows})`,
        found && lateNow(found, range, columns),
      ]);
    },
  };
}

function union(parts: readonly (Sql | null)[]): Sql | null {
  const found = parts.filter((part) => part !== null);
  return found.length === 0 ? null : join(found, sql`\nUNION ALL\n`);
}

const named = (columns: readonly SessionColumn[]): Sql => join(columns.map(identifier));

function unsealedRows(
  facts: SessionFacts,
  { from, to }: Range,
  columns: readonly SessionColumn[],
  starts?: Sql,
): Sql | null {
  const range = { from: epochMs(Math.max(from, facts.until)), to };
  if (range.from > range.to) return null;
  return range.from >= facts.keptFrom
    ? finalSessions(facts.app, range, columns, starts)
    : mergedSessions(facts, range, columns);
}

/** Sealed sessions with late events. Both of their forms follow from their raw events. */
const lateRows = (
  { lateHours }: SessionFacts,
  { where }: LateEvents,
  range: Range,
  columns: readonly SessionColumn[],
): Sql => sql`SELECT sign, started_at, ${named(columns)}
FROM
(
    SELECT sign, s.started_at AS started_at, ${sessionColumns(columns, GROUPED_FEW)}
    FROM ${rowsFromEvents(where, columns, sql`, session_id, ${isHeld('session', lateHours)} AS is_held`)} AS s
    ARRAY JOIN if(s.is_held, [toInt8(-1), toInt8(1)], [toInt8(1)]) AS sign
    WHERE ${inRanges(sql`s.started_at`, [range])}
    GROUP BY s.started_at, s.session_id, sign
)`;

/** The same as they are now. */
const lateNow = (
  { where, isSession }: LateEvents,
  range: Range,
  columns: readonly SessionColumn[],
): Sql => sql`SELECT *
FROM
(
    SELECT toUnixTimestamp64Milli(s.started_at) AS started_at, s.session AS session, ${sessionColumns(columns, GROUPED_FEW)}
    FROM ${rowsFromEvents(where, columns)} AS s
    WHERE ${inRanges(sql`s.started_at`, [range])}
    GROUP BY s.started_at, s.session
)
WHERE ${isSession}`;
