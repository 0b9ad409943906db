import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AppId, appId, type LinkId, linkId } from '../domain/ids.ts';
import { parseSegment, type Segment } from '../domain/segment.ts';
import { type EpochMs, toIso } from '../domain/time.ts';
import { hasExpired, Instant, instantColumn, isoOrNull, Version } from './rows.ts';

/** A link in the list of its app, without its token. */
export interface AppLink {
  readonly linkId: LinkId;
  readonly name: string;
  /** As it was written; null: all sessions. */
  readonly segment: string | null;
  /** The sites that may show it in a frame. */
  readonly origins: readonly string[];
  readonly state: 'active' | 'expired' | 'revoked';
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

export interface LinkRow {
  readonly id: LinkId;
  readonly app: AppId;
  readonly hash: string;
  readonly name: string;
  /** Empty: all sessions. */
  readonly segment: string;
  readonly origins: readonly string[];
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs | null;
  readonly revokedAt: EpochMs | null;
  readonly version: number;
}

const COLUMNS = sql`toString(link_id) AS id, toString(app_id) AS app, token_hash AS hash, name, segment, origins,
  toUnixTimestamp64Milli(created_at) AS createdAt, toUnixTimestamp64Milli(expires_at) AS expiresAt,
  toUnixTimestamp64Milli(revoked_at) AS revokedAt, version`;
const Row = z.object({
  id: z.string().transform(linkId),
  app: z.string().transform(appId),
  hash: z.string(),
  name: z.string(),
  segment: z.string(),
  origins: z.array(z.string()),
  createdAt: Instant,
  expiresAt: Instant.nullable(),
  revokedAt: Instant.nullable(),
  version: Version,
});

export const LINKS_BY_ID: Query<LinkRow> = {
  name: 'links by id',
  sql: sql`SELECT ${COLUMNS} FROM app_links FINAL WHERE link_id IN {links:Array(UUID)}`,
  row: Row,
};

export const LINKS_OF_APP: Query<LinkRow> = {
  name: 'links of app',
  sql: sql`SELECT ${COLUMNS} FROM app_links FINAL WHERE app_id = {app:UUID} ORDER BY created_at DESC, id`,
  row: Row,
};

export const linkColumns = (row: LinkRow): object => ({
  link_id: row.id,
  app_id: row.app,
  token_hash: row.hash,
  name: row.name,
  segment: row.segment,
  origins: row.origins,
  created_at: dateTime64(row.createdAt),
  expires_at: instantColumn(row.expiresAt),
  revoked_at: instantColumn(row.revokedAt),
  version: row.version,
});

export const isValid = ({ revokedAt, expiresAt }: LinkRow, now: EpochMs): boolean =>
  revokedAt === null && !hasExpired(expiresAt, now);

export function linkOf(row: LinkRow, now: EpochMs): AppLink {
  const unrevoked = isValid(row, now) ? 'active' : 'expired';
  return {
    linkId: row.id,
    name: row.name,
    segment: row.segment === '' ? null : row.segment,
    origins: row.origins,
    state: row.revokedAt === null ? unrevoked : 'revoked',
    createdAt: toIso(row.createdAt),
    expiresAt: isoOrNull(row.expiresAt),
    revokedAt: isoOrNull(row.revokedAt),
  };
}

/**
 * The sessions that a link shows; null for all. Undefined if its text is no segment of this version: such a link shows
 * nothing.
 */
export function segmentOf({ segment: text }: LinkRow): Segment | null | undefined {
  if (text === '') return null;
  const segment = parseSegment(text);
  return 'problem' in segment ? undefined : segment;
}
