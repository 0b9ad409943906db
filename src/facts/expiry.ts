import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { FACT_KINDS, type FactKind } from '../domain/fact-kinds.ts';
import { appId } from '../domain/ids.ts';
import { DAY_MS, type EpochMs, epochMs, floorTo } from '../domain/time.ts';
import { readLateHours } from '../snapshots/late-hours.ts';
import { appsOf, groupsOfRuns, withRuns } from './run-groups.ts';
import { type AppState, deadRuns, MAX_SECONDS, readStates } from './seal-states.ts';
import type { SealDeps } from './stretch.ts';

/*
 * Raw events of an app with a retention expire, in two steps:
 *
 * 1. A run publishes a later horizon, a UTC day, for each kind of facts. From then on, no question and no run reads
 *    raw events from before it. A question that began earlier finds the new era, and is asked again; a run that
 *    began earlier is dead. Everything before the horizon is sealed, and nothing of it is late.
 * 2. Events older than a day before the horizon are deleted. That day is kept because sessions that run into the
 *    horizon's first day can have begun in it, and its hours may be sealed again.
 *
 * The job may be killed at any moment and run twice: it goes on with the published horizon.
 */

/** An app and for how long its raw events are kept. */
export interface Retention {
  readonly app: string;
  readonly days: number;
}

/** Ingestion refuses events older than the retention. The horizon stays behind it by this, more than any delay. */
export const MARGIN_MS = DAY_MS;
/** How long events are kept before the horizon: as long as a session lasts. */
const SESSION_MS = DAY_MS;

export interface Expired {
  readonly apps: number;
  readonly events: number;
  readonly ms: number;
}

type ExpiryDeps = Pick<SealDeps, 'db' | 'signal' | 'only'>;

const STORE_CLOCK: Query<{ now: number }> = {
  name: "the store's clock",
  sql: sql`SELECT toUnixTimestamp64Milli(now64(3)) AS now`,
  row: z.object({ now: z.number() }),
};

/**
 * Publishes the horizons that are due, and deletes the expired events. Horizons are due by both clocks, `now` and
 * the store's, so that a process whose clock is ahead of the server's deletes nothing too early.
 */
export async function expire(
  deps: ExpiryDeps,
  now: EpochMs,
  retentions: readonly Retention[],
): Promise<Expired> {
  const started = performance.now();
  const wanted = await wantedHorizons(deps.db, now, retentions);
  for (const kind of FACT_KINDS) {
    const due = (await publishedHorizons(deps.db, kind, [...wanted.keys()]))
      .filter(({ app, horizon }) => horizon < (wanted.get(app) ?? 0))
      .map(({ app }) => app);
    for (const group of groupsOfRuns(deps.db, due, (app) => app)) {
      deps.signal?.throwIfAborted();
      await moveHorizons(deps, now, kind, group, wanted);
    }
  }
  const { apps, events } = await deleteExpired(deps);
  return { apps, events, ms: performance.now() - started };
}

async function wantedHorizons(
  db: Database,
  now: EpochMs,
  retentions: readonly Retention[],
): Promise<ReadonlyMap<string, number>> {
  if (retentions.length === 0) return new Map();
  const store = await db.queryOne(STORE_CLOCK, {}, { lane: 'seal' });
  const until = Math.min(now, store.now) - MARGIN_MS;
  return new Map(retentions.map(({ app, days }) => [app, floorTo(until - days * DAY_MS, DAY_MS)]));
}

const PUBLISHED: Query<{ app: string; horizon: number }> = {
  name: 'published horizons',
  sql: sql`SELECT toString(app_id) AS app, max(v.horizon) AS horizon FROM sealing_verdicts AS v
WHERE kind = {kind:String} AND app_id IN {apps:Array(UUID)} AND verdict = 'published' GROUP BY app_id`,
  row: z.object({ app: z.string(), horizon: z.number() }),
};

const publishedHorizons = (db: Database, kind: FactKind, apps: readonly string[]) =>
  apps.length === 0
    ? Promise.resolve([])
    : db.query(PUBLISHED, { kind, apps }, { lane: 'seal', everyShard: true });

/** Publishes a later horizon of each app that has one. The published facts stay as they are. */
async function moveHorizons(
  { db }: ExpiryDeps,
  now: EpochMs,
  kind: FactKind,
  apps: readonly string[],
  wanted: ReadonlyMap<string, number>,
): Promise<void> {
  await withRuns(db, kind, apps, 1, async (run) => {
    const steps = [];
    // The journal first: a batch that leaves it meanwhile is in the ledger, which is read after it.
    const underway = await oldestUnderway(db, apps, Math.max(...wanted.values()));
    for (const state of await readStates({ db, only: apps }, kind, now, true)) {
      const limit = Math.min(wanted.get(state.app) ?? 0, state.until, underway.get(state.app) ?? state.until);
      const horizon = floorTo(Math.min(limit, await firstLate(db, kind, state, limit)), DAY_MS);
      if (horizon > state.horizon) steps.push({ ...state, step: state.step + 1, era: run.number, horizon });
    }
    if (steps.length > 0) await run.publish(steps);
  });
}

const UNDERWAY: Query<{ app: string; first: number }> = {
  name: 'oldest session underway',
  sql: sql`SELECT toString(app_id) AS app, min(started_at) AS first FROM ingest_journal
WHERE app_id IN {apps:Array(UUID)} AND started_at < {limit:Int64}
    AND (app_id, batch_id) NOT IN
    (
        SELECT app_id, batch_id FROM ingest_batches WHERE (app_id, batch_id) IN
            (SELECT app_id, batch_id FROM ingest_journal WHERE app_id IN {apps:Array(UUID)} AND started_at < {limit:Int64})
    )
GROUP BY app_id`,
  row: z.object({ app: z.string(), first: z.number() }),
};

/**
 * Returns the start of the oldest session before `limit` of each app whose batch is being stored. A batch is marked as
 * stored when the ledger counts it.
 */
async function oldestUnderway(
  db: Database,
  apps: readonly string[],
  limit: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query(UNDERWAY, { apps, limit }, { lane: 'seal' });
  return new Map(rows.map(({ app, first }) => [app, first]));
}

/** Returns the first late hour before `limit`, or `limit`. */
async function firstLate(
  db: Database,
  kind: FactKind,
  { app, late }: AppState,
  limit: number,
): Promise<number> {
  if (late === 0) return limit;
  const facts = { until: epochMs(limit), dead: await deadRuns(db, kind, [app]) };
  const hours = await readLateHours(db, appId(app), { [kind]: facts });
  return hours[kind][0]?.hour ?? limit;
}

/** Apps whose horizons lie a session's length or more after the end of their deleted events. */
const PENDING: Query<{ app: string; until: number }> = {
  name: 'expired events: due apps',
  sql: sql`SELECT toString(h.app_id) AS app, min(h.horizon) - ${SESSION_MS} AS until FROM
(
    SELECT app_id, kind, max(v.horizon) AS horizon FROM sealing_verdicts AS v
    WHERE verdict = 'published' AND (empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)})
    GROUP BY app_id, kind
) AS h
LEFT JOIN (SELECT app_id, max(e.until) AS deleted FROM expired_events AS e GROUP BY app_id) AS e ON e.app_id = h.app_id
GROUP BY h.app_id HAVING count() = ${FACT_KINDS.length} AND min(h.horizon) > 0 AND until > any(e.deleted)`,
  row: z.object({ app: z.string(), until: z.number() }),
};

const CUT = sql`app_id IN {apps:Array(UUID)} AND timestamp < fromUnixTimestamp64Milli({untils:Array(Int64)}[indexOf({apps:Array(UUID)}, app_id)], 'UTC')
    AND toStartOfHour(timestamp) < toDateTime(intDiv({last:Int64}, 1000), 'UTC')`;
const EXPIRED: Query<{ events: number }> = {
  name: 'expired events',
  sql: sql`SELECT count() AS events FROM events WHERE ${CUT}`,
  row: z.object({ events: z.number() }),
};

/** Deletes the events before the horizons. Each part of the table that holds some is written once more, without them. */
async function deleteExpired({ db, signal, only = [] }: ExpiryDeps): Promise<Omit<Expired, 'ms'>> {
  const options = { lane: 'seal', maxSeconds: MAX_SECONDS } as const;
  const pending = await db.query(PENDING, { only }, { ...options, everyShard: true });
  let events = 0;
  for (const group of groupsOfRuns(db, pending, ({ app }) => app)) {
    signal?.throwIfAborted();
    const untils = group.map(({ until }) => until);
    const params = { apps: appsOf(group), untils, last: Math.max(...untils) };
    const found = await db.queryOne(EXPIRED, params, options);
    events += found.events;
    if (found.events > 0) {
      const statement = sql`ALTER TABLE ${db.shards.stored('events')} DELETE WHERE ${CUT} SETTINGS mutations_sync = 2`;
      await db.command('delete expired events', statement, params, options);
    }
    const rows = group.map(({ app, until }) => ({ app_id: app, until }));
    await db.insert('expired_events', rows, { lane: 'seal' });
  }
  return { apps: pending.length, events };
}
