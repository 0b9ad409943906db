import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { FACT_KINDS, type FactKind, LEDGER_KIND } from '../domain/fact-kinds.ts';
import { DAY_MS, type EpochMs, epochMs, floorTo, HOUR_MS, MINUTE_MS } from '../domain/time.ts';

/**
 * How long after its end an hour may be sealed: inserts of live traffic that were under way have landed by
 * then.
 */
const SEAL_GRACE_MS = 10 * MINUTE_MS;
/** A session can last 24 h. One that was silent for `SILENCE_MS` has most likely ended. */
const LONGEST_SESSION_MS = DAY_MS;
const SILENCE_MS = 30 * MINUTE_MS;
/** The first stretch of an app starts at a bucket boundary of every grain. */
const LONGEST_BUCKET_MS = 256 * DAY_MS;
/** Time limit of a statement over all apps. */
export const MAX_SECONDS = 600;

interface Asked {
  readonly db: Database;
  /** Restricts the work to these apps; all apps by default. */
  readonly only?: readonly string[];
  /** Includes apps of which a visitor is being erased: for the erasure itself. */
  readonly erasing?: boolean;
}

/**
 * How far an app's facts of a kind are sealed, and how far they could be. Instants are epoch ms, whole hours.
 */
export interface AppState {
  readonly app: string;
  /** The published watermark; 0 for an app that was never sealed. */
  readonly until: number;
  readonly step: number;
  readonly era: number;
  readonly rebuilt: number;
  /** Raw events are kept from here on; 0: all of them. Not later than `until`. */
  readonly horizon: number;
  /** Number of events in sealed hours by which the ledger and the facts differ. */
  readonly late: number;
  /** The app's first hour with data. */
  readonly first: number;
  /**
   * The end of the app's last hour with data. Nothing is sealed beyond it: a clock that is ahead would seal
   * hours that are still to come.
   */
  readonly last: number;
  /** The end of its ripe hours. An hour is ripe if the clock allows to seal it (see `ripeness`). */
  readonly ripe: number;
}

/** Apps of which a visitor is being erased. */
const ERASING = sql`SELECT app_id FROM erasures
    WHERE empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)} GROUP BY app_id, erasure_id HAVING max(ended) = 0`;

/** The last published state of each app. */
const PUBLISHED = sql`SELECT app_id, argMax(sealed_until, step) AS until, max(step) AS last_step, argMax(era, step) AS last_era,
        argMax(rebuilt, step) AS last_rebuilt, max(horizon) AS last_horizon
    FROM sealing_verdicts
    WHERE kind = {kind:String} AND verdict = 'published' AND run NOT IN (SELECT run FROM sealing_verdicts WHERE verdict = 'dead')
        AND (empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)})
    GROUP BY app_id`;

const STATES: Query<AppState> = {
  name: 'seal states',
  sql: sql`SELECT
    toString(h.app_id) AS app,
    any(s.until) AS until,
    any(s.last_step) AS step,
    any(s.last_era) AS era,
    any(s.last_rebuilt) AS rebuilt,
    any(s.last_horizon) AS horizon,
    sumIf(abs(toInt64(h.ledger) - toInt64(h.sealed)), h.ms < s.until) AS late,
    min(h.ms) AS first,
    maxIf(h.ms, h.ledger > 0) + 3600000 AS last,
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
            AND run NOT IN (SELECT run FROM sealing_verdicts WHERE verdict = 'dead')
    )
    GROUP BY app_id, ms
) AS h
LEFT JOIN (${PUBLISHED}) AS s ON s.app_id = h.app_id
GROUP BY h.app_id
HAVING ({all:Bool} OR until < least(ripe, last) OR late > 0)
    AND ({erasing:Bool} OR h.app_id NOT IN (${ERASING}))`,
  row: z.object({
    app: z.string(),
    until: z.number(),
    step: z.number(),
    era: z.number(),
    rebuilt: z.number(),
    horizon: z.number(),
    late: z.number(),
    first: z.number(),
    last: z.number(),
    ripe: z.number(),
  }),
};

/**
 * Returns the bounds of the hours that may be sealed at `now`. Hours before `oldest` may be sealed. An hour from
 * there up to `newest` may be sealed if none of its sessions had an event after `quiet`. If a session continues
 * after its hour was sealed, the ledger and the facts differ, as after any late event.
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

/**
 * Reads the apps with something to seal; with `all`, every app with data. Not those of which a visitor is being erased:
 * nothing of them is sealed, nor does anything of them expire.
 */
export const readStates = (
  { db, only = [], erasing = false }: Asked,
  kind: FactKind,
  now: EpochMs,
  all: boolean,
): Promise<AppState[]> =>
  db.query(
    STATES,
    { kind, ledgerKind: LEDGER_KIND[kind], ...ripeness(kind, now), only, all, erasing },
    { lane: 'seal', maxSeconds: MAX_SECONDS, everyShard: true },
  );

/** Returns where sealing continues. */
export const startOf = ({ until, first }: AppState): number =>
  until === 0 ? floorTo(first, LONGEST_BUCKET_MS) : until;

/** Returns the end of the hours that are ripe and have data. */
export const endOf = ({ ripe, last }: AppState): number => Math.min(ripe, last);

/** Tells how far each app is sealed, and how much of it could be sealed at `now` but is not. */
export async function sealStates(deps: Asked, now: EpochMs): Promise<SealState[]> {
  const states = await Promise.all(
    FACT_KINDS.map(async (kind) => {
      const rows = await readStates(deps, kind, now, true);
      return rows.map((row) => ({
        app: row.app,
        kind,
        sealedUntil: epochMs(row.until),
        lagMs: Math.max(0, endOf(row) - startOf(row)),
        late: row.late,
      }));
    }),
  );
  return states.flat();
}

export interface SealState {
  readonly app: string;
  readonly kind: FactKind;
  /** 0 if nothing is sealed. */
  readonly sealedUntil: EpochMs;
  /** 0 if everything ripe is sealed. */
  readonly lagMs: number;
  /** Number of events in sealed hours by which the ledger and the facts differ. */
  readonly late: number;
}

const KEPT: Query<{ kept: number }> = {
  name: 'sessions kept',
  sql: sql`SELECT max(kept_from) AS kept FROM kept_sessions WHERE app_id IN {apps:Array(UUID)}`,
  row: z.object({ kept: z.number() }),
};

/** Tells whether `sessions` holds all sessions of `apps` that started at `from` or later. */
export async function areKept(db: Database, apps: readonly string[], from: number): Promise<boolean> {
  const { kept } = await db.queryOne(KEPT, { apps }, { lane: 'seal' });
  return from >= kept;
}

const DEAD: Query<{ run: number }> = {
  name: 'dead runs',
  sql: sql`SELECT DISTINCT run FROM sealing_verdicts WHERE app_id IN {apps:Array(UUID)} AND kind = {kind:String} AND verdict = 'dead'`,
  row: z.object({ run: z.number() }),
};

/** Reads the runs of `apps` whose rows are ignored. */
export async function deadRuns(db: Database, kind: FactKind, apps: readonly string[]): Promise<number[]> {
  const rows = await db.query(DEAD, { apps, kind }, { lane: 'seal' });
  return rows.map(({ run }) => run);
}
