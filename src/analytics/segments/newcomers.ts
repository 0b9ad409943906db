import { inMs, int } from '../../clickhouse/literals.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import { EVER, type Range } from '../../domain/time.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import type { Pending } from '../late/pending.ts';

/*
 * The first session of a visitor. Of sealed sessions, `prev` tells it, unless the visitor has pending sessions: for these few
 * visitors, all starts are looked up. Sessions of a visitor that start in the same ms as the first one are first, too.
 */

/** SQL of the pending sessions up to the end of the range; null if there are none. */
const pendingRows = (pending: Pending, { to }: Range): Sql | null =>
  pending.rows({ from: EVER.from, to }, ['visitor']);

/** SQL of rows (visitor, first) of the visitors with pending sessions, these included. */
const firstStarts = ({ where, until }: SessionFacts, rows: Sql, { to }: Range): Sql => sql`
SELECT visitor, min(at) AS first FROM
(
    SELECT visitor, at FROM
    (
        SELECT visitor, started_at AS at, toInt64(1) AS n FROM visitor_sessions
        WHERE ${where} AND started_at < ${int(Math.min(until, to + 1))} AND visitor IN (SELECT visitor FROM (${rows}))
        UNION ALL
        SELECT visitor, toUnixTimestamp64Milli(started_at), toInt64(sign) FROM (${rows})
    )
    GROUP BY visitor, at HAVING sum(n) > 0
)
GROUP BY visitor`;

/** SQL of the sealed sessions of the range. */
const sealedIn = ({ where, until }: SessionFacts, { from, to }: Range): Sql =>
  sql`session_facts WHERE ${where} AND ${inMs(sql`started_at`, [{ start: from, end: Math.min(to + 1, until) }])}`;

/** SQL of the visitors whose first session started in the range: one row each. */
export function newcomers(facts: SessionFacts, pending: Pending, range: Range): Sql {
  const rows = pendingRows(pending, range);
  const sealed = sql`SELECT visitor FROM ${sealedIn(facts, range)} AND prev = -1`;
  return rows === null
    ? sealed
    : sql`${sealed} AND visitor NOT IN (SELECT visitor FROM (${rows}))
UNION ALL
SELECT visitor FROM (${firstStarts(facts, rows, range)}) WHERE first >= ${int(range.from)} AND first <= ${int(range.to)}`;
}

/** SQL condition on a pending session: the visitor has no earlier one. */
export function isFirstPending(facts: SessionFacts, pending: Pending, range: Range): Sql {
  const rows = pendingRows(pending, range);
  return rows === null
    ? sql`false`
    : sql`(visitor, started_at) IN (SELECT visitor, first FROM (${firstStarts(facts, rows, range)}))`;
}

/** SQL condition on a sealed session that is not pending: the visitor has no earlier one. */
export function isFirstSealed(facts: SessionFacts, pending: Pending, range: Range): Sql {
  const all = sealedIn(facts, range);
  const together = sql`SELECT started_at FROM ${all} AND prev = started_at`;
  const isFirst = sql`(prev = -1 OR prev = started_at AND (started_at, visitor) IN (SELECT started_at, visitor FROM ${all} AND prev = -1 AND started_at IN (${together})))`;
  const rows = pendingRows(pending, range);
  return rows === null
    ? isFirst
    : sql`if(visitor IN (SELECT visitor FROM (${rows})), ${isFirstPending(facts, pending, range)}, ${isFirst})`;
}
