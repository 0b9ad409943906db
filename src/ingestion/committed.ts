import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { ofApps } from '../clickhouse/literals.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AppId, appId } from '../domain/ids.ts';

/** Apps of one statement: its text stays below the engine's limit of 256 KiB. */
const MOST_APPS = 2_000;
/** Counts like more events than an app ever has. */
const ERASURE = 2 ** 40;
/** The number begins again from here, so that it stays exact in JavaScript. */
const MOST_ERASURES = 4_096;

/**
 * Reads a number of each app that changes when events of it are committed, and when a visitor's erasure begins or ends.
 * An app without events is absent.
 */
export type ReadCommitted = (apps: readonly AppId[]) => Promise<ReadonlyMap<AppId, number>>;

const committedOf = (apps: readonly AppId[]): Query<[AppId, number]> => ({
  name: 'committed events of apps',
  sql: sql`SELECT toString(app_id), toInt64(sum(h.changes)) FROM
(
    SELECT app_id, l.events AS changes FROM ledger AS l WHERE l.kind = 'event' AND ${ofApps(apps)}
    UNION ALL
    SELECT app_id, toUInt64(${ERASURE}) * ((uniqExact(erasure_id) + uniqExactIf(erasure_id, ended = 1)) % ${MOST_ERASURES}) FROM erasures
    WHERE ${ofApps(apps)} GROUP BY app_id
) AS h GROUP BY app_id`,
  row: z.tuple([z.string().transform(appId), z.number()]),
});

export async function readCommitted(db: Database, apps: readonly AppId[]): Promise<Map<AppId, number>> {
  const committed = new Map<AppId, number>();
  for (let at = 0; at < apps.length; at += MOST_APPS) {
    const rows = await db.rows(committedOf(apps.slice(at, at + MOST_APPS)), { lane: 'lookup' });
    for (const [app, events] of rows) committed.set(app, events);
  }
  return committed;
}

/**
 * Asks the store with one small statement for all apps. A process that is alone on its store asks only after it
 * has written something.
 */
export function createCommitted(db: Database): ReadCommitted {
  const stampsOf = (apps: readonly AppId[]): readonly (number | null)[] =>
    apps.map((app) => db.own.stamp(app));
  let last: {
    readonly stamps: ReadonlyMap<AppId, number | null>;
    readonly committed: ReadonlyMap<AppId, number>;
  } = { stamps: new Map(), committed: new Map() };
  return async (apps) => {
    const before = stampsOf(apps);
    const isKnown = apps.every((app, i) => before[i] !== null && last.stamps.get(app) === before[i]);
    if (isKnown) return last.committed;
    const committed = await readCommitted(db, apps);
    last = { stamps: new Map(apps.map((app, i) => [app, before[i] ?? null])), committed };
    return committed;
  };
}
