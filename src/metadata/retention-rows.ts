import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AppId, appId } from '../domain/ids.ts';
import type { AppRetention } from '../domain/retention.ts';
import { Instant, Version } from './rows.ts';

export interface RetentionRow extends AppRetention {
  readonly id: AppId;
  readonly version: number;
}

export const RETENTIONS: Query<RetentionRow> = {
  name: 'retentions of apps',
  sql: sql`SELECT toString(app_id) AS id, nullIf(days, 0) AS days, accepted_from AS acceptedFrom, version
FROM app_retention FINAL WHERE app_id IN {apps:Array(UUID)}`,
  row: z.object({
    id: z.string().transform(appId),
    days: z.int().nullable(),
    acceptedFrom: Instant,
    version: Version,
  }),
};

/** The row of a setting, as the table has it. */
export const retentionColumns = ({ id, days, acceptedFrom, version }: RetentionRow) => ({
  app_id: id,
  days: days ?? 0,
  accepted_from: acceptedFrom,
  version,
});
