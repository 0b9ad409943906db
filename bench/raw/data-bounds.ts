import { z } from 'zod';
import type { DataBounds } from '../../src/answers/times.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { epochMs, toIso } from '../../src/domain/time.ts';
import type { RawDatabase } from './ask.ts';

const BOUNDS: Query<{ sessions: number; oldest: number; newest: number }> = {
  name: 'data bounds',
  sql: sql`SELECT
    count() AS sessions,
    toUnixTimestamp64Milli(min(l.oldest)) AS oldest,
    toUnixTimestamp64Milli(max(l.newest)) AS newest
FROM ledger AS l
WHERE l.app_id = {app:UUID} AND l.kind = 'session'`,
  row: z.object({ sessions: z.number(), oldest: z.number(), newest: z.number() }),
};

export async function dataBounds(db: RawDatabase, app: AppId): Promise<DataBounds> {
  const { sessions, oldest, newest } = await db.queryOne(BOUNDS, { app });
  if (sessions === 0) return { oldest: null, newest: null };
  return { oldest: toIso(epochMs(oldest)), newest: toIso(epochMs(newest)) };
}
