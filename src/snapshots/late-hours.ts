import type { Database } from '../clickhouse/database.ts';
import { anyOf, bucket, ofApp } from '../clickhouse/literals.ts';
import { number, rowOf } from '../clickhouse/row.ts';
import { quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { byName } from '../domain/by-name.ts';
import { FACT_KINDS, type FactKind, LEDGER_KIND } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type LateHours, MOST_LATE_HOURS } from './late-hour.ts';
import { type Published, type PublishedFacts, without } from './published.ts';
import type { Numbers } from './rows.ts';

type Facts = Pick<Published, 'until' | 'dead'>;
/** The kinds of facts whose late hours are sought. */
type Sought = { readonly [Kind in FactKind]?: Facts };

/** The number of a kind: in the ledger, in the facts and here. */
const NUMBER = { page: 1, session: 2 } as const;

/**
 * SQL of the late hours of these kinds. At most one more than MOST_LATE_HOURS of each kind. Each part of a union takes the
 * engine as long as a small statement, so one part covers both kinds.
 */
function lateRows(app: AppId, sought: Sought, isErasing: boolean): Sql {
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
GROUP BY facts, hour HAVING sum(in_ledger) != sum(in_facts) OR max(erased) = 1 ORDER BY hour LIMIT ${MOST_LATE_HOURS + 1} BY facts`;
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
  const query = { name: 'late hours', sql: lateRows(app, sought, isErasing), row: ROW };
  const rows = await db.rows(query, { lane: 'lookup' });
  return byName(FACT_KINDS, (kind) =>
    rows.flatMap(([facts, hour, committed, held, insertedUntil, lastEvent]) =>
      facts === NUMBER[kind] ? { hour, committed, held, insertedUntil, lastEvent } : [],
    ),
  );
}

/** The late hours, as they were read. */
export interface LateRead {
  readonly late: LateHours;
  /** The numbers that `late` follows from, as one text: while they are the same, so is `late`. */
  readonly counted: { readonly [Kind in FactKind]: string };
}

export const NO_LATE_READ: LateRead = {
  late: { page: [], session: [] },
  counted: { page: '', session: '' },
};

/** Returns the late hours. They are read only if they may have changed. */
export async function readLate(
  db: Database,
  app: AppId,
  published: PublishedFacts,
  { ledger, sealed, erasures, isErasing }: Numbers,
  last: LateRead,
): Promise<LateRead> {
  // Events are only added, except by erasures: equal sums of all hours mean equal hours.
  const counted = byName(
    FACT_KINDS,
    (kind) => `${stateOf(published[kind])} ${erasures} ${ledger[kind]} ${sealed[kind]}`,
  );
  if (isErasing) return { counted, late: await readLateHours(db, app, published, true) };
  const isLate = (kind: FactKind): boolean => ledger[kind] !== sealed[kind];
  const isKnown = FACT_KINDS.every((kind) => !isLate(kind) || counted[kind] === last.counted[kind]);
  if (!isKnown) return { counted, late: await readLateHours(db, app, published) };
  return { counted, late: byName(FACT_KINDS, (kind) => (isLate(kind) ? last.late[kind] : [])) };
}

/** Changes with the facts. */
const stateOf = ({ step, horizon, dead }: Published): string => `${step} ${horizon} ${dead.length}`;
