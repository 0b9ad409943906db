import type { Params } from '../../clickhouse/database.ts';
import { identifier, join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import { mapped } from '../../domain/lists.ts';
import type { Dimension, Segment } from '../../domain/segment.ts';
import type { OpenRange, Range } from '../../domain/time.ts';
import type { BreakdownRow } from '../answers/results.ts';
import { figureOf } from '../answers/rounding.ts';
import { type AppFacts, closed } from '../input/app-facts.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { int } from '../range/sql.ts';
import { COLUMN_OF } from '../segments/conditions.ts';
import { matchingSessions } from '../segments/matching.ts';

const NO_PAGE: readonly Dimension[] = ['entryPage', 'exitPage'];
const VALUES = ['pageviews', 'bounced', 'duration_ms'] as const;

export async function breakdown(
  facts: AppFacts,
  range: OpenRange,
  by: Dimension,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Iterable<BreakdownRow>> {
  const { rows, params } = await rowsBy(facts, closed(range), by);
  const isListed = NO_PAGE.includes(by) ? sql`WHERE name != ''` : sql``;
  // Shares are of all sessions, also of those that are not listed.
  const statement = sql`SELECT name, sessions, visitors, views, bounces, duration, total FROM
(
    SELECT toString(value) AS name, count() AS sessions, uniqExact(visitor) AS visitors, sum(pageviews) AS views,
        sum(bounced) AS bounces, sum(duration_ms) AS duration, sum(count()) OVER () AS total
    FROM (${rows}) GROUP BY value
)
${isListed} ORDER BY sessions DESC, name = '', name LIMIT ${int(limit)}`;
  const query = { name: 'breakdown', sql: statement, row: ROW };
  return mapped(await facts.db.list(query, { parallel: true }, params), rowOf);
}

interface Rows {
  readonly rows: Sql;
  readonly params: Params;
}

/** SQL of the counted sessions, one row each: `value`, visitor and the values. */
async function rowsBy(facts: AppFacts, range: Range, by: Dimension): Promise<Rows> {
  const of = async (
    segment: Segment | null,
    column: (typeof COLUMN_OF)[keyof typeof COLUMN_OF] | null,
    value: Sql,
  ): Promise<Rows> => {
    const matching = await matchingSessions(facts, segment);
    const rows = matching.rows(range, column === null ? VALUES : [column, ...VALUES]);
    return {
      rows: sql`SELECT ${value} AS value, visitor, ${join(VALUES.map(identifier))} FROM (${rows})`,
      params: matching.params,
    };
  };
  if (by !== 'visitorType') return of(facts.segment, COLUMN_OF[by], identifier(COLUMN_OF[by]));
  const typed = (value: string): Promise<Rows> =>
    of([...(facts.segment ?? []), [{ dimension: by, operator: '==', value }]], null, quoted(value));
  const [fresh, returning] = await Promise.all([typed('new'), typed('returning')]);
  return { rows: sql`${fresh.rows}\nUNION ALL\n${returning.rows}`, params: fresh.params };
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
