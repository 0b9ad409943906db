import { z } from 'zod';
import type { EventsQuestion } from '../../src/analytics/answers/results.ts';
import type { EventRow } from '../../src/answers/rows.ts';
import { quoted, sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { OpenRange } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';

/** Names of events, with the sessions and visitors of the events. */
export async function events(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  { type }: EventsQuestion,
): Promise<EventRow[]> {
  const rows = await db.query(
    {
      name: 'events',
      sql: sql`SELECT toString(e.label) AS name, count() AS count, uniqExact((e.started_at, e.session)) AS sessions, uniqExact(s.visitor) AS visitors
FROM
(
    SELECT label, started_at, sipHash64(session_id) AS session FROM events
    WHERE app_id = {app:UUID} AND type = ${quoted(type)}
        AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
        AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
) AS e
INNER JOIN
(
    SELECT b.started_at AS started_at, b.session AS session, cityHash64(b.visitor.2) AS visitor FROM all_sessions AS b FINAL
    WHERE b.app_id = {app:UUID}
        AND b.started_at >= fromUnixTimestamp64Milli({from:Int64} - 86400000, 'UTC')
        AND b.started_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
) AS s
ON s.started_at = e.started_at AND s.session = e.session
GROUP BY name ORDER BY count DESC, name = '', name`,
      row: z.object({ name: z.string(), count: z.number(), sessions: z.number(), visitors: z.number() }),
    },
    appRange(app, closed(range)),
  );
  return rows.map(({ name, ...counts }) => ({ name: name === '' ? null : name, ...counts }));
}
