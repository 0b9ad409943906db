import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type EpochMs, floorTo, HOUR_MS } from '../domain/time.ts';
import type { SealDeps } from './seal.ts';
import { MAX_SECONDS } from './seal-states.ts';

/** Late events of so long after a session's start find it merged. Every session is sealed before, at the latest after 25 hours. */
const KEPT_MS = 36 * HOUR_MS;
/** Each time the parts that hold the app's last sessions are written anew. */
const STEP_MS = 6 * HOUR_MS;
const APPS_PER_STATEMENT = 500;

export interface PurgeOptions {
  readonly keptMs?: number;
  readonly stepMs?: number;
}

/**
 * Apps with sessions from before `kept`, which are sealed, where some hours came since the last purge. Sessions are taken away from before
 * `cut`; never beyond what is sealed, whatever a clock says.
 */
const DUE: Query<{ app: string; kept: number }> = {
  name: 'purge: due apps',
  sql: `SELECT toString(h.app_id) AS app, least(s.until, {cut:Int64}) AS kept FROM
(
    SELECT app_id, toUnixTimestamp64Milli(min(started_at)) AS first FROM sessions
    WHERE started_at < fromUnixTimestamp64Milli({cut:Int64}, 'UTC') AND (empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)})
    GROUP BY app_id
) AS h
JOIN
(
    SELECT app_id, argMax(sealed_until, step) AS until FROM sealing_verdicts
    WHERE kind = 'session' AND verdict = 'published' GROUP BY app_id
) AS s ON s.app_id = h.app_id
LEFT JOIN
(
    SELECT app_id, max(kept_from) AS kept_from FROM kept_sessions GROUP BY app_id
) AS k ON k.app_id = h.app_id
WHERE h.first < kept AND k.kept_from + {step:Int64} <= kept`,
  row: z.object({ app: z.string(), kept: z.number() }),
};

/**
 * Takes sealed sessions away from `sessions`: their facts answer, and `events` holds all of them. Resolves to the number of apps.
 * Can be killed at any moment, and carried out twice: sessions from before the announced instant are read from events, whether they are
 * there or not.
 */
export async function purgeSessions(
  { db, signal, only = [] }: Pick<SealDeps, 'db' | 'signal' | 'only'>,
  now: EpochMs,
  { keptMs = KEPT_MS, stepMs = STEP_MS }: PurgeOptions = {},
): Promise<number> {
  const cut = floorTo(now - keptMs, HOUR_MS);
  const due = await db.query(DUE, { cut, only, step: stepMs }, { lane: 'seal', maxSeconds: MAX_SECONDS });
  const apps = due.map(({ app }) => app);
  const rows = due.map(({ app, kept }) => ({ app_id: app, kept_from: kept }));
  await db.insert('kept_sessions', rows, { lane: 'seal', about: apps });
  for (let i = 0; i < due.length; i += APPS_PER_STATEMENT) {
    signal?.throwIfAborted();
    await takeAway(db, due.slice(i, i + APPS_PER_STATEMENT));
  }
  return apps.length;
}

async function takeAway(db: Database, due: readonly z.infer<typeof DUE.row>[]): Promise<void> {
  await db.command(
    'purge sessions',
    `ALTER TABLE sessions DELETE WHERE app_id IN {apps:Array(UUID)}
    AND toUnixTimestamp64Milli(started_at) < {kept:Array(Int64)}[indexOf({apps:Array(UUID)}, app_id)]
SETTINGS mutations_sync = 1`,
    { apps: due.map(({ app }) => app), kept: due.map(({ kept }) => kept) },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
}
