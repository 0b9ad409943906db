import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type FactKind, LEDGER_KIND } from './kinds.ts';

/** A sealed hour whose facts do not hold all committed events, or may not, because a visitor is being erased. */
export interface LateHour {
  /** Its start, epoch ms. */
  readonly hour: number;
  /** Number of events in the ledger. */
  readonly committed: number;
  /** Number of events in the facts. */
  readonly held: number;
  /**
   * The facts hold no event that was inserted later, by the store's clock (epoch ms); 0 if they hold none of
   * this hour.
   */
  readonly insertedUntil: number;
  /**
   * The time of the last event in the ledger (epoch ms). For session facts, of any session that started in
   * the hour.
   */
  readonly lastEvent: number;
}

/** If more hours of a kind are late, raw rows answer from the first one on. */
export const MOST_LATE_HOURS = 500;

const LATE_HOUR = z.object({
  hour: z.number(),
  committed: z.number(),
  held: z.number(),
  insertedUntil: z.number(),
  lastEvent: z.number(),
});
/** The hours of the events that are being erased. Their counts in the ledger may fall to those of the facts. */
const ERASED_HOURS: { readonly [Kind in FactKind]: Sql } = {
  page: sql`arrayJoin(hours)`,
  session: sql`toDateTime(intDiv(started_at, ${HOUR_MS}) * ${HOUR_MS / 1000}, 'UTC')`,
};
const erasedHours = (kind: FactKind): Sql => sql`
    UNION ALL
    SELECT hour, 0, 0, toInt64(0), toInt64(0), 1 FROM
    (SELECT ${ERASED_HOURS[kind]} AS hour FROM erased_sessions WHERE app_id = {app:UUID} AND session_id != '')
    WHERE toUnixTimestamp(hour) * 1000 < {until:Int64}`;

const lateHoursQuery = (kind: FactKind, isErasing: boolean): Query<LateHour> => ({
  name: 'late hours',
  sql: sql`SELECT toUnixTimestamp(h.hour) * 1000 AS hour, sum(in_ledger) AS committed, sum(in_facts) AS held, max(inserted_until) AS insertedUntil,
    max(last_event_ms) AS lastEvent
FROM
(
    SELECT hour, events AS in_ledger, 0 AS in_facts, toInt64(0) AS inserted_until, toUnixTimestamp64Milli(last_event) AS last_event_ms, 0 AS erased FROM ledger
    WHERE app_id = {app:UUID} AND kind = {ledgerKind:String} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
    UNION ALL
    SELECT hour, 0, events, inserted_until, toInt64(0), 0 FROM sealed_hours
    WHERE app_id = {app:UUID} AND kind = {kind:String} AND run NOT IN {dead:Array(UInt64)} AND toUnixTimestamp(hour) * 1000 < {until:Int64}${isErasing ? erasedHours(kind) : sql``}
) AS h
GROUP BY h.hour HAVING committed != held OR max(erased) = 1 ORDER BY h.hour LIMIT ${MOST_LATE_HOURS + 1}`,
  row: LATE_HOUR,
});

/** Reads the late hours in order, at most one more than MOST_LATE_HOURS. */
export function lateHours(
  db: Database,
  app: string,
  kind: FactKind,
  {
    until,
    dead,
    isErasing = false,
  }: { readonly until: number; readonly dead: readonly number[]; readonly isErasing?: boolean },
): Promise<readonly LateHour[]> {
  const params = { app, kind, ledgerKind: LEDGER_KIND[kind], until, dead };
  return db.query(lateHoursQuery(kind, isErasing), params, { lane: 'lookup' });
}
