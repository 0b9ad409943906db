import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AppId, appId } from '../domain/ids.ts';
import { Version } from './rows.ts';

/** The addresses whose events an app leaves out, as ranges. */
export interface ExclusionRow {
  readonly id: AppId;
  readonly addresses: readonly string[];
  readonly version: number;
}

export const EXCLUSIONS: Query<ExclusionRow> = {
  name: 'excluded addresses of apps',
  sql: sql`SELECT toString(app_id) AS id, addresses, version FROM app_exclusions FINAL WHERE app_id IN {apps:Array(UUID)}`,
  row: z.object({ id: z.string().transform(appId), addresses: z.array(z.string()), version: Version }),
};
