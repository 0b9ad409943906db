import { z } from 'zod';
import type { Database, Query, RunOptions } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';

const HORIZON: Query<{ at: EpochMs }> = {
  name: 'horizon of app',
  sql: sql`SELECT max(v.horizon) AS at FROM sealing_verdicts AS v WHERE app_id = {app:UUID} AND verdict = 'published'`,
  row: z.object({ at: z.int().transform(epochMs) }),
};

/**
 * Reads the instant before which an app's events have expired and its facts are final; 0: nothing has expired.
 * Source: the published verdicts of both kinds of facts. Throws `overloaded` like each query.
 */
export const horizonOf = async (db: Database, app: AppId, options?: RunOptions): Promise<EpochMs> =>
  (await db.queryOne(HORIZON, { app }, options)).at;
