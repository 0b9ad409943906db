import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { EpochMs } from '../domain/time.ts';
import { Instant, instantColumn, Version } from './rows.ts';

/** A secret of an app, without its text. */
export interface SecretRow {
  readonly app: string;
  readonly hash: string;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs | null;
  readonly version: number;
}

export const SECRETS: Query<SecretRow> = {
  name: 'secrets of apps',
  sql: sql`SELECT toString(app_id) AS app, secret_hash AS hash, toUnixTimestamp64Milli(created_at) AS createdAt,
  toUnixTimestamp64Milli(expires_at) AS expiresAt, version
FROM app_secrets FINAL WHERE app_id IN {apps:Array(UUID)}`,
  row: z.object({
    app: z.string(),
    hash: z.string(),
    createdAt: Instant,
    expiresAt: Instant.nullable(),
    version: Version,
  }),
};

/** The row of a secret, as the table has it. */
export const secretColumns = (row: SecretRow): object => ({
  app_id: row.app,
  secret_hash: row.hash,
  created_at: dateTime64(row.createdAt),
  expires_at: instantColumn(row.expiresAt),
  version: row.version,
});
