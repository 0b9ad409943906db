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

/** Apps that are sealed so far and have sessions from before, and that were not purged in the last hours. */
const DUE: Query<{ app: string }> = {
  name: 'purge: due apps',
  sql: `SELECT toString(h.app_id) AS app FROM
(
    SELECT DISTINCT app_id FROM sessions
    WHERE started_at < fromUnixTimestamp64Milli({cut:Int64}, 'UTC') AND (empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)})
) AS h
JOIN
(
    SELECT app_id, argMax(sealed_until, version) AS until FROM sealed_apps WHERE kind = 'session' GROUP BY app_id
) AS s ON s.app_id = h.app_id
LEFT JOIN
(
    SELECT app_id, max(kept_from) AS kept FROM kept_sessions GROUP BY app_id
) AS k ON k.app_id = h.app_id
WHERE s.until >= {cut:Int64} AND k.kept + {step:Int64} <= {cut:Int64}`,
  row: z.object({ app: z.string() }),
};

/**
 * Takes sealed sessions away from `sessions`: their facts answer, and `events` holds all of them. Resolves to the number of apps.
 * Can be killed at any moment: what is announced is read from events, whether it is there or not, and goes with the next run.
 */
export async function purgeSessions(
  { db, readers, signal, only = [] }: Pick<SealDeps, 'db' | 'readers' | 'signal' | 'only'>,
  now: EpochMs,
  { keptMs = KEPT_MS, stepMs = STEP_MS }: PurgeOptions = {},
): Promise<number> {
  const cut = floorTo(now - keptMs, HOUR_MS);
  const due = await db.query(DUE, { cut, only, step: stepMs }, { lane: 'seal', maxSeconds: MAX_SECONDS });
  const apps = due.map(({ app }) => app);
  if (apps.length === 0) return 0;
  const rows = apps.map((app) => ({ app_id: app, kept_from: cut }));
  await db.insert('kept_sessions', rows, { lane: 'seal', about: apps });
  if (!(await readers.quiesce(signal))) return 0;
  for (let i = 0; i < apps.length; i += APPS_PER_STATEMENT) {
    await takeAway(db, apps.slice(i, i + APPS_PER_STATEMENT), cut);
  }
  return apps.length;
}

async function takeAway(db: Database, apps: readonly string[], cut: number): Promise<void> {
  await db.command(
    'purge sessions',
    `ALTER TABLE sessions DELETE
WHERE app_id IN {apps:Array(UUID)} AND started_at < fromUnixTimestamp64Milli({cut:Int64}, 'UTC')
SETTINGS mutations_sync = 1`,
    { apps, cut },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
}
