import type { Database } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { floorTo, HOUR_MS } from '../../src/domain/time.ts';
import { LEDGER_COLUMNS } from '../../src/ingestion/ledger-rows.ts';

/**
 * Adds to the ledger all events of `apps` (null: of all) that it does not count yet, in the hours from `from`
 * (epoch ms) on. For events that are inserted past the service; the service does this when it stores a flush.
 */
export async function commitEvents(db: Database, apps: readonly string[] | null, from = 0): Promise<void> {
  const params = { apps: apps ?? [], from: floorTo(from, HOUR_MS) / 1000 };
  await db.insertFrom('ledger', LEDGER_COLUMNS, MISSING, params, {
    lane: 'seal',
    ...(apps === null ? {} : { about: apps }),
  });
}

const MISSING = sql`
  SELECT e.app_id, e.kind, e.hour, e.events - l.events, e.oldest, e.newest, e.last_event
  FROM
  (
    SELECT app_id, slice.1 AS kind, toDateTime(toStartOfHour(slice.2, 'UTC'), 'UTC') AS hour, count() AS events,
      min(slice.2) AS oldest, max(slice.2) AS newest, max(timestamp) AS last_event
    FROM events
    ARRAY JOIN [('event', timestamp), ('session', started_at)] AS slice
    WHERE (empty({apps:Array(UUID)}) OR app_id IN {apps:Array(UUID)}) AND toStartOfHour(timestamp) >= toDateTime({from:UInt32}, 'UTC')
    GROUP BY app_id, kind, hour
    HAVING hour >= toDateTime({from:UInt32}, 'UTC')
  ) AS e
  LEFT JOIN
  (
    SELECT app_id, toString(kind) AS kind, hour, sum(ledger.events) AS events FROM ledger WHERE (empty({apps:Array(UUID)}) OR app_id IN {apps:Array(UUID)})
    GROUP BY app_id, kind, hour
  ) AS l ON l.app_id = e.app_id AND l.kind = e.kind AND l.hour = e.hour
  WHERE e.events > l.events`;
