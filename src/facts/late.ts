import type { Database } from '../clickhouse/database.ts';
import { bucket, inEachHour, int, ofApp } from '../clickhouse/literals.ts';
import { number, rowOf, text } from '../clickhouse/row.ts';
import { join, type Sql, sql } from '../clickhouse/sql.ts';
import type { FactKind } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { epochMs } from '../domain/time.ts';
import type { LateHour } from '../snapshots/late-hour.ts';

/*
 * Finds the events that the facts of an hour do not hold. Facts hold the events that were inserted before
 * sealing read the hour. Between two erasures, events after the horizon are only ever added. No clock is trusted
 * for this: the number of events inserted until then must equal the number that the facts hold. If it does not,
 * the late events of the hour count as unknown.
 */

/** The identity of a session within its app. */
export interface SessionKey {
  readonly id: string;
  /** Epoch ms. */
  readonly startedAt: number;
}

const AT: { readonly [Kind in FactKind]: Sql } = { page: sql`timestamp`, session: sql`started_at` };

/**
 * SQL condition on a raw event: the facts hold it. In an hour that is not late, they hold what was inserted up to `otherwise`;
 * by default everything.
 */
export function isHeld(
  kind: FactKind,
  hours: readonly LateHour[],
  otherwise: number = Number.MAX_SAFE_INTEGER,
): Sql {
  if (hours.length === 0) return sql`toUnixTimestamp64Milli(inserted_at) <= ${int(otherwise)}`;
  const hour = sql`toUnixTimestamp(toStartOfHour(${AT[kind]}))`;
  const starts = join(hours.map(({ hour: start }) => bucket(start)));
  const reads = join(hours.map(({ insertedUntil }) => sql`toInt64(${int(insertedUntil)})`));
  return sql`toUnixTimestamp64Milli(inserted_at) <= transform(toUInt32(${hour}), [${starts}]::Array(UInt32), [${reads}], toInt64(${int(otherwise)}))`;
}

/** SQL condition on a raw event: it belongs to the facts of these hours. */
function ofHours(app: AppId, kind: FactKind, hours: readonly LateHour[]): Sql {
  const ranges = hours.map(({ hour, lastEvent }) => ({
    from: epochMs(hour),
    to: epochMs(kind === 'page' ? hour : Math.max(hour, lastEvent)),
  }));
  const starts = join(hours.map(({ hour }) => bucket(hour)));
  return sql`${ofApp(app)} AND ${inEachHour(ranges)} AND toStartOfHour(${AT[kind]}) IN (${starts})`;
}

/** SQL of the sessions (session_id, started_at) with late events in these hours. */
export function lateSessions(app: AppId, kind: FactKind, hours: readonly LateHour[]): Sql {
  const first = int(Math.min(...hours.map(({ insertedUntil }) => insertedUntil)));
  return sql`SELECT DISTINCT session_id, started_at FROM events
    WHERE ${ofHours(app, kind, hours)} AND inserted_at >= fromUnixTimestamp64Milli(${first}, 'UTC') AND NOT ${isHeld(kind, hours)}`;
}

const FOUND = rowOf([number, number, number, text]);
const FEW_HOURS = 4;

/**
 * Finds the sessions with late events of each of these hours; null for an hour whose late events are unknown, and for
 * all hours if there are more than `most` sessions.
 */
export async function findLate(
  { db, app, kind }: { readonly db: Database; readonly app: AppId; readonly kind: FactKind },
  hours: readonly LateHour[],
  most: number,
): Promise<ReadonlyMap<number, readonly SessionKey[] | null>> {
  const limit = most + hours.length;
  const rows = await db.rows(
    {
      name: 'late sessions',
      sql: sql`SELECT toUnixTimestamp(hour) * 1000, held, toUnixTimestamp64Milli(session.1), session.2
FROM
(
    SELECT toStartOfHour(${AT[kind]}) AS hour, countIf(${isHeld(kind, hours)} AS is_held) AS held,
        groupUniqArrayIf(${most + 1})((started_at, session_id), NOT is_held) AS late
    FROM events WHERE ${ofHours(app, kind, hours)} GROUP BY hour
)
ARRAY JOIN emptyArrayToSingle(late) AS session LIMIT ${limit + 1}`,
      row: FOUND,
    },
    { parallel: hours.length > FEW_HOURS },
  );
  const held = new Map(rows.map(([hour, count]) => [hour, count]));
  const sessions = new Map(hours.map(({ hour }) => [hour, [] as SessionKey[]]));
  // An hour without late events has one row, without a session.
  for (const [hour, , startedAt, id] of rows) if (id !== '') sessions.get(hour)?.push({ id, startedAt });
  const isKnown = (late: LateHour): boolean =>
    rows.length <= limit && (held.get(late.hour) ?? 0) === late.held;
  return new Map(hours.map((late) => [late.hour, isKnown(late) ? (sessions.get(late.hour) ?? []) : null]));
}
