import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';

/** Facts by the time of events (pages, errors, clicks) and facts by the start of sessions are sealed apart. */
export type FactKind = 'page' | 'session';

/** Before these instants (whole UTC hours) facts answer, from them on raw rows do; 0 where nothing is sealed. */
export type Watermarks = { readonly [Kind in FactKind]: EpochMs };

const ROW = z.object({
  pageUntil: z.number(),
  pageLedger: z.number(),
  pageSealed: z.number(),
  sessionUntil: z.number(),
  sessionLedger: z.number(),
  sessionSealed: z.number(),
});

/** Published watermarks, and the events below them: in the ledger, and in the facts. */
const PUBLISHED: Query<z.infer<typeof ROW>> = {
  name: 'watermarks',
  sql: `WITH
    (
        SELECT (argMaxIf(sealed_until, version, kind = 'page'), argMaxIf(sealed_until, version, kind = 'session'))
        FROM sealed_apps WHERE app_id = {app:UUID}
    ) AS until,
    (
        SELECT (sumIf(events, kind = 'page' AND toUnixTimestamp(hour) * 1000 < until.1),
                sumIf(events, kind = 'session' AND toUnixTimestamp(hour) * 1000 < until.2))
        FROM sealed_hours WHERE app_id = {app:UUID}
    ) AS sealed
SELECT
    until.1 AS pageUntil, until.2 AS sessionUntil, sealed.1 AS pageSealed, sealed.2 AS sessionSealed,
    sumIf(events, kind = 'event' AND toUnixTimestamp(hour) * 1000 < until.1) AS pageLedger,
    sumIf(events, kind = 'session' AND toUnixTimestamp(hour) * 1000 < until.2) AS sessionLedger
FROM ledger WHERE app_id = {app:UUID}`,
  row: ROW,
};

/** The first hour below `until` in which the facts do not hold just the ledger's events; null where there is none. */
const FIRST_STALE: Query<{ hour: number | null }> = {
  name: 'first stale hour',
  sql: `SELECT toUnixTimestamp(minOrNull(hour)) AS hour FROM
(
    SELECT hour FROM
    (
        SELECT hour, toInt64(events) AS difference FROM ledger
        WHERE app_id = {app:UUID} AND kind = {ledgerKind:String} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
        UNION ALL
        SELECT hour, -toInt64(events) FROM sealed_hours
        WHERE app_id = {app:UUID} AND kind = {kind:String} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
    )
    GROUP BY hour HAVING sum(difference) != 0
)`,
  row: z.object({ hour: z.number().nullable() }),
};

/**
 * How far an app's facts can be used now. Late events count at once: they make the ledger differ from the facts,
 * and the watermark falls back to the first hour that they touched.
 */
export async function readWatermarks(db: Database, app: AppId): Promise<Watermarks> {
  const row = await db.queryOne(PUBLISHED, { app });
  const [page, session] = await Promise.all([
    row.pageLedger === row.pageSealed ? epochMs(row.pageUntil) : firstStale(db, app, 'page', row.pageUntil),
    row.sessionLedger === row.sessionSealed
      ? epochMs(row.sessionUntil)
      : firstStale(db, app, 'session', row.sessionUntil),
  ]);
  return { page, session };
}

async function firstStale(db: Database, app: AppId, kind: FactKind, until: number): Promise<EpochMs> {
  const ledgerKind = kind === 'page' ? 'event' : 'session';
  const { hour } = await db.queryOne(FIRST_STALE, { app, kind, ledgerKind, until });
  return epochMs(hour === null ? until : hour * 1000);
}
