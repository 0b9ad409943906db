import type { Database } from '../clickhouse/database.ts';
import { bucket, inEachHour, int, ofApp } from '../clickhouse/literals.ts';
import { number, rowOf, text } from '../clickhouse/row.ts';
import { join, type Sql, sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { epochMs, floorTo, HOUR_MS } from '../domain/time.ts';
import type { FactKind } from './kinds.ts';
import { type LateHour, MOST_LATE_HOURS } from './late-hours.ts';
import type { Cache } from './memory.ts';

/*
 * Finds the events that the facts of an hour do not hold. Facts hold the events that were inserted before
 * sealing read the hour. Between two erasures, events after the horizon are only ever added. No clock is trusted
 * for this: the number of events inserted until then must equal the number that the facts hold. If it does not,
 * the late events of the hour count as unknown.
 */

/** A session with late events. */
export interface LateSession {
  /** Epoch ms. */
  readonly startedAt: number;
  readonly id: string;
}

/** If there are more, raw rows answer from the first late hour on. */
const MOST_LATE_SESSIONS = 2_000;

/** Marks an hour whose late events are unknown. */
const UNKNOWN: readonly LateSession[] = [];

/** Returns the sessions with late events in `hours`; null if some are unknown or there are too many. */
export async function lateSessions(
  db: Database,
  cache: Cache,
  app: AppId,
  kind: FactKind,
  hours: readonly LateHour[],
): Promise<readonly LateSession[] | null> {
  if (hours.length === 0) return [];
  if (hours.length > MOST_LATE_HOURS) return null;
  const byKey = new Map(hours.map((late) => [keyOf(late), late]));
  const found = await cache.recallEach(
    `late sessions ${app} ${kind}`,
    [...byKey.keys()],
    async (unknown) => {
      const asked = hours.filter((late) => unknown.includes(keyOf(late)));
      const sessions = await sessionsOf(db, app, kind, asked);
      return new Map(asked.map((late): [string, readonly LateSession[]] => [keyOf(late), sessions(late)]));
    },
    (own) => own.length,
  );
  const sessions = new Map<string, LateSession>();
  for (const key of byKey.keys()) {
    const own = found.get(key) ?? UNKNOWN;
    if (own === UNKNOWN) return null;
    for (const session of own) sessions.set(`${session.startedAt} ${session.id}`, session);
  }
  return sessions.size > MOST_LATE_SESSIONS ? null : [...sessions.values()];
}

const keyOf = ({ hour, committed }: LateHour): string => `${hour} ${committed}`;

const HELD = rowOf([number, number]);
const SESSION = rowOf([number, number, text]);

const AT: { readonly [Kind in FactKind]: Sql } = { page: sql`timestamp`, session: sql`started_at` };

async function sessionsOf(
  db: Database,
  app: AppId,
  kind: FactKind,
  hours: readonly LateHour[],
): Promise<(late: LateHour) => readonly LateSession[]> {
  const starts = join(hours.map(({ hour }) => bucket(hour)));
  const ranges = hours.map(({ hour, lastEvent }) => ({
    from: epochMs(hour),
    to: epochMs(kind === 'page' ? hour : Math.max(hour, lastEvent)),
  }));
  const where = sql`${ofApp(app)} AND ${inEachHour(ranges)} AND toStartOfHour(${AT[kind]}) IN (${starts})`;
  const hour = sql`toUnixTimestamp(toStartOfHour(${AT[kind]})) * 1000`;
  const first = Math.min(...hours.map(({ insertedUntil }) => insertedUntil));
  const options = { parallel: hours.length > FEW_HOURS };
  const [held, late] = await Promise.all([
    db.rows(
      {
        name: 'late sessions: held events',
        sql: sql`SELECT ${hour}, countIf(${isHeld(kind, hours)}) FROM events WHERE ${where} GROUP BY 1`,
        row: HELD,
      },
      options,
    ),
    db.rows(
      {
        name: 'late sessions',
        sql: sql`SELECT DISTINCT ${hour}, toUnixTimestamp64Milli(started_at), session_id FROM events
WHERE ${where} AND inserted_at >= fromUnixTimestamp64Milli(${int(first)}, 'UTC') AND NOT ${isHeld(kind, hours)}
LIMIT ${MOST_LATE_SESSIONS + 1}`,
        row: SESSION,
      },
      options,
    ),
  ]);
  if (late.length > MOST_LATE_SESSIONS) return () => UNKNOWN;
  const counts = new Map(held);
  return (own) => {
    if ((counts.get(own.hour) ?? 0) !== own.held) return UNKNOWN;
    return late.filter(([at]) => at === own.hour).map(([, startedAt, id]) => ({ startedAt, id }));
  };
}

const FEW_HOURS = 4;

/** SQL condition on a raw event: the facts hold it. Holds for every event of an hour that is not late. */
export function isHeld(kind: FactKind, hours: readonly LateHour[]): Sql {
  const hour = sql`toUnixTimestamp(toStartOfHour(${AT[kind]}))`;
  const starts = join(hours.map(({ hour: start }) => bucket(start)));
  const reads = join(hours.map(({ insertedUntil }) => sql`toInt64(${int(insertedUntil)})`));
  return sql`toUnixTimestamp64Milli(inserted_at) <= transform(toUInt32(${hour}), [${starts}]::Array(UInt32), [${reads}], toInt64(${int(Number.MAX_SAFE_INTEGER)}))`;
}

/** Returns the start of the hour that contains `ms`. */
export const hourOf = (ms: number): number => floorTo(ms, HOUR_MS);
