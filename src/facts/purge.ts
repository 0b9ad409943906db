import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type EpochMs, floorTo, HOUR_MS } from '../domain/time.ts';
import { MAX_SECONDS } from './seal-states.ts';
import type { SealDeps } from './stretch.ts';

/**
 * How long merged sessions are kept, from their start. Most late events find their session here. Every
 * session is sealed before, after 25 hours at the latest.
 */
const KEPT_MS = 36 * HOUR_MS;
/** How often an app is purged: each time the parts that hold its last sessions are rewritten. */
const STEP_MS = 6 * HOUR_MS;
const APPS_PER_STATEMENT = 500;

interface PurgeOptions {
  readonly keptMs?: number;
  readonly stepMs?: number;
}

/**
 * Apps with sessions older than `kept`, if at least `step` ms have passed since the app's last purge. `kept`
 * is the age limit `cut`, or the watermark if that is earlier: unsealed sessions are never deleted, whatever
 * the clock says.
 */
const DUE: Query<{ app: string; kept: number }> = {
  name: 'purge: due apps',
  sql: sql`SELECT toString(h.app_id) AS app, least(s.until, {cut:Int64}) AS kept FROM
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
 * Deletes sealed sessions from `sessions`: their facts answer, and `events` still holds their events.
 * Resolves to the number of apps. It may be killed at any moment and run twice: `kept_sessions` is written
 * first, and sessions from before that instant are read from `events` from then on.
 */
export async function purgeSessions(
  { db, signal, only = [] }: Pick<SealDeps, 'db' | 'signal' | 'only'>,
  now: EpochMs,
  { keptMs = KEPT_MS, stepMs = STEP_MS }: PurgeOptions = {},
): Promise<number> {
  const cut = floorTo(now - keptMs, HOUR_MS);
  const asked = { cut, only, step: stepMs };
  const due = await db.query(DUE, asked, { lane: 'seal', maxSeconds: MAX_SECONDS, everyShard: true });
  const apps = due.map(({ app }) => app);
  const rows = due.map(({ app, kept }) => ({ app_id: app, kept_from: kept }));
  await db.insert('kept_sessions', rows, { lane: 'seal', about: apps });
  for (let i = 0; i < due.length; i += APPS_PER_STATEMENT) {
    signal?.throwIfAborted();
    await takeAway(db, due.slice(i, i + APPS_PER_STATEMENT));
  }
  return apps.length;
}

async function takeAway(db: Database, due: readonly ReturnType<typeof DUE.row.parse>[]): Promise<void> {
  await db.command(
    'purge sessions',
    sql`ALTER TABLE ${db.shards.stored('sessions')} DELETE WHERE app_id IN {apps:Array(UUID)}
    AND toUnixTimestamp64Milli(started_at) < {kept:Array(Int64)}[indexOf({apps:Array(UUID)}, app_id)]
SETTINGS mutations_sync = 1`,
    { apps: due.map(({ app }) => app), kept: due.map(({ kept }) => kept) },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
}
