import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { DAY_MS, type EpochMs, epochMs, floorTo, HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import type { FactKind } from './watermarks.ts';

/** An hour may be sealed this long after its end: in-flight inserts of live traffic have landed by then. */
export const SEAL_GRACE_MS = 10 * MINUTE_MS;
/** A session can still grow for 24 h after its start; one that was silent for as long as this has most likely ended. */
const LONGEST_SESSION_MS = DAY_MS;
const SILENCE_MS = 30 * MINUTE_MS;
/** The first stretch of an app begins with a bucket of every grain. */
const LONGEST_BUCKET_MS = 256 * DAY_MS;
/** For a statement over all apps. */
export const MAX_SECONDS = 600;

export const FACT_KINDS: readonly FactKind[] = ['page', 'session'];
export const LEDGER_KIND = { page: 'event', session: 'session' } as const;

interface Asked {
  readonly db: Database;
  /** These alone; all apps where absent. */
  readonly only?: readonly string[];
}

/** How far an app's facts of a kind are, and how far they could be. */
export interface AppState {
  readonly app: string;
  /** Published watermark; 0 for an app that was never sealed. */
  readonly until: number;
  /** The first sealed hour whose facts do not hold what the ledger counts. */
  readonly stale: number | null;
  /** The first hour of the app that holds anything. */
  readonly first: number;
  /** Until where it may be sealed now. */
  readonly ripe: number;
}

const STATES: Query<AppState> = {
  name: 'seal states',
  sql: `SELECT
    toString(h.app_id) AS app,
    any(s.until) AS until,
    minIfOrNull(h.ms, h.ms < s.until AND h.ledger != h.sealed) AS stale,
    min(h.ms) AS first,
    min(if(h.ms >= {oldest:Int64} AND h.ms < {newest:Int64} AND h.last > {quiet:Int64}, toInt64(h.ms), {newest:Int64})) AS ripe
FROM
(
    SELECT app_id, ms, sum(in_ledger) AS ledger, sum(in_facts) AS sealed, max(last_event_ms) AS last FROM
    (
        SELECT app_id, toUnixTimestamp(hour) * 1000 AS ms, events AS in_ledger, 0 AS in_facts,
            toUnixTimestamp64Milli(last_event) AS last_event_ms
        FROM ledger WHERE kind = {ledgerKind:String} AND (empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)})
        UNION ALL
        SELECT app_id, toUnixTimestamp(hour) * 1000, 0, events, 0
        FROM sealed_hours WHERE kind = {kind:String} AND (empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)})
    )
    GROUP BY app_id, ms
) AS h
LEFT JOIN
(
    SELECT app_id, argMax(sealed_until, version) AS until FROM sealed_apps WHERE kind = {kind:String} GROUP BY app_id
) AS s ON s.app_id = h.app_id
GROUP BY h.app_id
HAVING {all:Bool} OR until < ripe OR stale IS NOT NULL`,
  row: z.object({
    app: z.string(),
    until: z.number(),
    stale: z.number().nullable(),
    first: z.number(),
    ripe: z.number(),
  }),
};

/**
 * Until where facts of a kind may be sealed at `now`: by all means until `oldest`, and until `newest` but for hours whose
 * sessions had an event after `quiet`. A session that speaks again after all makes its hour differ from the ledger, like late
 * events do.
 */
function ripeness(kind: FactKind, now: EpochMs): { oldest: number; newest: number; quiet: number } {
  const past = now - SEAL_GRACE_MS;
  if (kind === 'page') {
    const target = floorTo(past, HOUR_MS);
    return { oldest: target, newest: target, quiet: past };
  }
  const quiet = past - SILENCE_MS;
  return { oldest: floorTo(past - LONGEST_SESSION_MS, HOUR_MS), newest: floorTo(quiet, HOUR_MS), quiet };
}

export const readStates = (
  { db, only = [] }: Asked,
  kind: FactKind,
  now: EpochMs,
  all: boolean,
): Promise<AppState[]> =>
  db.query(
    STATES,
    { kind, ledgerKind: LEDGER_KIND[kind], ...ripeness(kind, now), only, all },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );

/** Where sealing has to begin. */
export const startOf = (state: AppState): number =>
  state.stale ?? (state.until === 0 ? floorTo(state.first, LONGEST_BUCKET_MS) : state.until);

/** How far each app is sealed, and by how much that is behind what could be sealed at `now`. */
export async function sealStates(deps: Asked, now: EpochMs): Promise<SealState[]> {
  const states = await Promise.all(
    FACT_KINDS.map(async (kind) => {
      const rows = await readStates(deps, kind, now, true);
      return rows.map((row) => ({
        app: row.app,
        kind,
        sealedUntil: epochMs(row.stale ?? row.until),
        lagMs: Math.max(0, row.ripe - startOf(row)),
      }));
    }),
  );
  return states.flat();
}

export interface SealState {
  readonly app: string;
  readonly kind: FactKind;
  /** 0 where nothing is sealed. */
  readonly sealedUntil: EpochMs;
  /** 0 where everything ripe is sealed. */
  readonly lagMs: number;
}

const KEPT: Query<{ kept: number }> = {
  name: 'sessions kept',
  sql: `SELECT max(kept_from) AS kept FROM kept_sessions WHERE app_id IN {apps:Array(UUID)}`,
  row: z.object({ kept: z.number() }),
};

/** Whether `sessions` holds all sessions of `apps` that started at `from` or later. */
export async function areKept(db: Database, apps: readonly string[], from: number): Promise<boolean> {
  const { kept } = await db.queryOne(KEPT, { apps }, { lane: 'seal' });
  return from >= kept;
}
