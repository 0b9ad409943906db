import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type FactKind, LEDGER_KIND } from '../domain/fact-kinds.ts';
import { isWithin, type Span } from '../domain/time.ts';
import { MAX_SECONDS } from './seal-states.ts';

/** Numbers of events by app and hour. */
export type HourCounts = ReadonlyMap<string, ReadonlyMap<number, number>>;

const HOUR = z.object({ app: z.string(), ms: z.number(), events: z.number() });
const LEDGER_HOURS: Query<z.infer<typeof HOUR>> = {
  name: 'seal: hours of the ledger',
  sql: sql`SELECT toString(app_id) AS app, toUnixTimestamp(hour) * 1000 AS ms, sum(l.events) AS events FROM ledger AS l
WHERE app_id IN {apps:Array(UUID)} AND kind = {ledgerKind:String} AND ms >= {from:Int64} AND ms < {to:Int64}
GROUP BY app, ms HAVING events > 0 ORDER BY ms LIMIT {rows:UInt64}`,
  row: HOUR,
};
const SEALED_HOURS: Query<z.infer<typeof HOUR>> = {
  name: 'seal: hours of the facts',
  sql: sql`SELECT toString(app_id) AS app, toUnixTimestamp(hour) * 1000 AS ms, sum(h.events) AS events FROM sealed_hours AS h
WHERE app_id IN {apps:Array(UUID)} AND kind = {kind:String} AND run NOT IN {dead:Array(UInt64)} AND ms >= {from:Int64} AND ms < {to:Int64}
GROUP BY app, ms HAVING events > 0 ORDER BY ms`,
  row: HOUR,
};

interface Hours {
  readonly kind: FactKind;
  readonly apps: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Reads the ledger's count of each hour in [from, to) with data, in order. At least the first `hours` of them. */
export const ledgerHours = async (
  db: Database,
  { kind, ...of }: Hours,
  hours = Number.MAX_SAFE_INTEGER,
): Promise<HourCounts> =>
  byApp(
    await db.query(
      LEDGER_HOURS,
      {
        ...of,
        ledgerKind: LEDGER_KIND[kind],
        rows: Math.min(hours * of.apps.length, Number.MAX_SAFE_INTEGER),
      },
      { lane: 'seal', maxSeconds: MAX_SECONDS },
    ),
  );

/** Reads the facts' count of each of these hours. */
export const sealedHours = async (db: Database, hours: Hours, dead: readonly number[]): Promise<HourCounts> =>
  byApp(await db.query(SEALED_HOURS, { ...hours, dead }, { lane: 'seal', maxSeconds: MAX_SECONDS }));

function byApp(rows: readonly z.infer<typeof HOUR>[]): HourCounts {
  const found = new Map<string, Map<number, number>>();
  for (const { app, ms, events } of rows) {
    const hours = found.get(app);
    if (hours === undefined) found.set(app, new Map([[ms, events]]));
    else hours.set(ms, events);
  }
  return found;
}

/** Returns the hours of an app, in order, in which two counts differ. */
export function differences(app: string, one: HourCounts, other: HourCounts): number[] {
  const [a, b] = [one.get(app) ?? new Map<number, number>(), other.get(app) ?? new Map<number, number>()];
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((hour) => a.get(hour) !== b.get(hour))
    .sort((x, y) => x - y);
}

/** Sums the events of all apps in the hours of `spans`. */
export function eventsIn(counts: HourCounts, spans: readonly Span[]): number {
  let sum = 0;
  for (const hours of counts.values()) {
    for (const [hour, events] of hours) {
      if (isWithin(spans, hour)) sum += events;
    }
  }
  return sum;
}
