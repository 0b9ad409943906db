import { z } from 'zod';
import type { BreakdownRow } from '../../src/answers/rows.ts';
import { type Sql, sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { Dimension, Segment } from '../../src/domain/segment.ts';
import type { OpenRange } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { averageMs, perSession, rate } from './rounding.ts';
import { sessionsSql } from './sessions-sql.ts';

const COLUMNS: { readonly [Name in Dimension]?: Sql } = { browser: sql`browser`, entryPage: sql`entry_path` };

const ROW = z.object({
  name: z.string(),
  sessions: z.number(),
  visitors: z.number(),
  pageviews: z.number(),
  bounces: z.number(),
  durationMs: z.number(),
  total: z.number(),
});

export async function breakdown(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  by: Dimension,
  segment: Segment | null,
): Promise<BreakdownRow[]> {
  const column = COLUMNS[by];
  if (column === undefined) throw new Error(`no raw question is about ${by}`);
  const isListed = by === 'entryPage' ? sql`WHERE name != ''` : sql``;
  const rows = await db.query(
    {
      name: 'breakdown',
      sql: sql`SELECT * FROM
(
    SELECT ${column} AS name, count() AS sessions, uniqExact(cityHash64(visitor_id)) AS visitors, sum(p.pageviews) AS pageviews,
        sum(bounced) AS bounces, sum(duration_ms) AS durationMs, sum(count()) OVER () AS total
    FROM (${sessionsSql(segment)}) AS p GROUP BY name
)
${isListed} ORDER BY sessions DESC, name = '', name`,
      row: ROW,
    },
    appRange(app, closed(range)),
  );
  return rows.map(({ name, sessions, visitors, pageviews, bounces, durationMs, total }) => ({
    name: name === '' ? null : name,
    sessions,
    visitors,
    share: rate(sessions, total),
    pageviews,
    bounceRate: rate(bounces, sessions),
    averageSessionDurationMs: averageMs(durationMs, sessions),
    pagesPerSession: perSession(pageviews, sessions),
  }));
}
