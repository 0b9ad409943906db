import { anyOf } from '../../src/clickhouse/literals.ts';
import { join, quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import type { Condition, Segment } from '../../src/domain/segment.ts';

/* The conditions that the bench asks with: a session is (`==`) something, or saw a page. */

const COLUMNS: Readonly<Record<string, Sql>> = { country: sql`s.country.2`, device: sql`s.technology.5` };

const isPage = ({ dimension }: Condition): boolean => dimension === 'page';

const seen = (path: string): Sql =>
  sql`app_id = {app:UUID} AND type = 'pageview' AND path = ${quoted(path)}
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64} - 86400000, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64} + 86400000, 'UTC')`;

function ofSession(condition: Condition): Sql {
  const { dimension, operator, value } = condition;
  if (operator !== '==') throw new Error(`no raw question has the operator ${operator}`);
  if (isPage(condition))
    return sql`(s.started_at, s.session) IN (SELECT started_at, sipHash64(session_id) FROM events WHERE ${seen(value)})`;
  const column = COLUMNS[dimension];
  if (column === undefined) throw new Error(`no raw question has the dimension ${dimension}`);
  return sql`${column} = ${quoted(value)}`;
}

const andAll = (segment: Segment): Sql =>
  join(
    segment.map((clause) => sql` AND ${anyOf(clause.map(ofSession))}`),
    sql``,
  );

/** SQL that narrows rows of `all_sessions AS s` down; '' without a segment. */
export const sessionsIn = (segment: Segment | null): Sql => andAll(segment ?? []);

/** SQL that narrows raw events down. Those of sessions that saw a page are found without the table of sessions. */
export function eventsIn(segment: Segment | null): Sql {
  if (segment === null) return sql``;
  const [page, ...others] = segment.flat();
  if (page !== undefined && isPage(page) && others.length === 0)
    return sql` AND (started_at, session_id) IN (SELECT started_at, session_id FROM events WHERE ${seen(page.value)})`;
  return sql` AND (started_at, sipHash64(session_id)) IN (
        SELECT s.started_at, s.session FROM all_sessions AS s FINAL WHERE s.app_id = {app:UUID}
            AND s.started_at >= fromUnixTimestamp64Milli({from:Int64} - 86400000, 'UTC')
            AND s.started_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')${andAll(segment)})`;
}
