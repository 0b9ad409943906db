import type { BreakdownRow } from '../../answers/rows.ts';
import { int } from '../../clickhouse/literals.ts';
import { identifier, sql } from '../../clickhouse/sql.ts';
import { mapped } from '../../domain/lists.ts';
import type { Dimension } from '../../domain/segment.ts';
import type { OpenRange } from '../../domain/time.ts';
import { figureOf } from '../answers/rounding.ts';
import { type AppFacts, closed } from '../input/app-facts.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { COLUMN_OF } from '../segments/conditions.ts';
import { COUNTED, matchingSessions } from '../segments/matching.ts';

const NO_PAGE: readonly Dimension[] = ['entryPage', 'exitPage'];
const VALUES = ['pageviews', 'bounced', 'duration_ms'] as const;

export async function breakdown(
  facts: AppFacts,
  range: OpenRange,
  by: Dimension,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Iterable<BreakdownRow>> {
  const { rows, params } = await matchingSessions(facts);
  const column = by === 'visitorType' ? 'visitor_type' : COLUMN_OF[by];
  const sessions = rows(closed(range), [column, ...VALUES]);
  const isListed = NO_PAGE.includes(by) ? sql`WHERE name != ''` : sql``;
  // Shares are of all sessions, also of those that are not listed.
  const statement = sql`SELECT name, sessions, visitors, views, bounces, duration, total FROM
(
    SELECT toString(${identifier(column)}) AS name, count() AS sessions, uniqExact(visitor) AS visitors, sum(pageviews) AS views,
        sum(bounced) AS bounces, sum(duration_ms) AS duration, sum(count()) OVER () AS total
    FROM (${sessions}) GROUP BY ${identifier(column)}
)
${isListed} ORDER BY sessions DESC, name = '', name LIMIT ${int(limit)}`;
  const query = { name: 'breakdown', sql: statement, row: ROW };
  return mapped(await facts.db.list(query, COUNTED, params), rowOf);
}

function rowOf([
  name,
  sessions = 0,
  visitors = 0,
  pageviews = 0,
  bounces = 0,
  duration = 0,
  total = 0,
]: Row): BreakdownRow {
  return {
    name: name === '' ? null : name,
    sessions,
    visitors,
    share: figureOf('share', sessions, total),
    pageviews,
    bounceRate: figureOf('bounceRate', bounces, sessions),
    averageSessionDurationMs: figureOf('averageSessionDurationMs', duration, sessions),
    pagesPerSession: figureOf('pagesPerSession', pageviews, sessions),
  };
}
