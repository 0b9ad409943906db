import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { AppId } from '../../domain/ids.ts';
import { epochMs, toIso } from '../../domain/time.ts';
import type { DataBounds } from '../results.ts';

const BOUNDS: Query<{ events: number; oldest: number; newest: number }> = {
  name: 'data bounds',
  sql: sql`SELECT
    sum(l.events) AS events,
    toUnixTimestamp64Milli(min(l.oldest)) AS oldest,
    toUnixTimestamp64Milli(max(l.newest)) AS newest
FROM ledger AS l
WHERE l.app_id = {app:UUID} AND l.kind = 'session'`,
  row: z.object({ events: z.number(), oldest: z.number(), newest: z.number() }),
};

export async function dataBounds(db: Database, app: AppId): Promise<DataBounds> {
  const { events, oldest, newest } = await db.queryOne(BOUNDS, { app });
  if (events === 0) return { oldest: null, newest: null };
  return { oldest: toIso(epochMs(oldest)), newest: toIso(epochMs(newest)) };
}
