import type { Database } from '../clickhouse/database.ts';
import { anyOf, bucket, ofApp } from '../clickhouse/literals.ts';
import { number, rowOf } from '../clickhouse/row.ts';
import { quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { byName } from '../domain/by-name.ts';
import { FACT_KINDS, type FactKind, LEDGER_KIND } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type LateHours, MOST_LATE_HOURS } from './late-hour.ts';
import { type Published, without } from './published.ts';

type Facts = Pick<Published, 'until' | 'dead'>;
/** The kinds of facts whose late hours are sought. */
type Sought = { readonly [Kind in FactKind]?: Facts };

/** The number of a kind: in the ledger, in the facts and here. */
const NUMBER = { page: 1, session: 2 } as const;

/**
 * SQL of the hours of these kinds that fulfil `having`. At most one more than `most` of each kind. Each part of a union
 * takes the engine as long as a small statement, so one part covers both kinds.
 */
function hourRows(app: AppId, sought: Sought, having: Sql, most: number, isErasing = false): Sql {
  const ofKinds = (conditionOf: (kind: FactKind, facts: Facts) => Sql): Sql => {
    const conditions = FACT_KINDS.flatMap((kind) => {
      const facts = sought[kind];
      return facts === undefined ? [] : sql`hour < ${bucket(facts.until)} AND ${conditionOf(kind, facts)}`;
    });
    return sql`${ofApp(app)} AND ${anyOf(conditions)}`;
  };
  const erased = sql`
    UNION ALL
    SELECT facts, hour, 0, 0, toInt64(0), ${NO_TIME}, 1
    FROM (SELECT app_id, arrayJoin(${ERASED_HOURS}) AS of_facts, of_facts.1 AS facts, of_facts.2 AS hour FROM erased_sessions WHERE session_id != '')
    WHERE ${ofKinds((kind) => sql`facts = ${NUMBER[kind]}`)}`;
  return sql`SELECT facts, toUnixTimestamp(hour) * 1000, sum(in_ledger), sum(in_facts), max(inserted), toUnixTimestamp64Milli(max(last))
FROM
(
    SELECT toUInt8(kind) AS facts, hour, events AS in_ledger, 0 AS in_facts, toInt64(0) AS inserted, last_event AS last, 0 AS erased FROM ledger
    WHERE ${ofKinds((kind) => sql`kind = ${quoted(LEDGER_KIND[kind])}`)}
    UNION ALL
    SELECT toUInt8(kind), hour, 0, events, inserted_until, ${NO_TIME}, 0 FROM sealed_hours
    WHERE ${ofKinds((kind, { dead }) => sql`kind = ${quoted(kind)}${without(sql`run`, dead)}`)}${isErasing ? erased : sql``}
)
GROUP BY facts, hour HAVING ${having} ORDER BY hour LIMIT ${most + 1} BY facts`;
}

const NO_TIME = sql`toDateTime64(0, 3, 'UTC')`;

/** The hours of events that are being erased, by kind. Their counts in the ledger may fall to those of the facts. */
const ERASED_HOURS = sql`arrayConcat(arrayMap(hour -> (${NUMBER.page}, hour), hours),
        [(${NUMBER.session}, toDateTime(intDiv(started_at, ${HOUR_MS}) * ${HOUR_MS / 1000}, 'UTC'))])`;

const ROW = rowOf([number, number, number, number, number, number]);

/** Reads the late hours of these kinds. At most one more than MOST_LATE_HOURS of each kind. */
export async function readLateHours(
  db: Database,
  app: AppId,
  sought: Sought,
  isErasing = false,
): Promise<LateHours> {
  const having = sql`sum(in_ledger) != sum(in_facts) OR max(erased) = 1`;
  return rowsByKind(db, 'late hours', hourRows(app, sought, having, MOST_LATE_HOURS, isErasing));
}

async function rowsByKind(db: Database, name: string, statement: Sql): Promise<LateHours> {
  const rows = await db.rows({ name, sql: statement, row: ROW }, { lane: 'lookup' });
  return byName(FACT_KINDS, (kind) =>
    rows.flatMap(([facts, hour, committed, held, insertedUntil, lastEvent]) =>
      facts === NUMBER[kind] ? { hour, committed, held, insertedUntil, lastEvent } : [],
    ),
  );
}
