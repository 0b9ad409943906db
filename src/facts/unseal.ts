import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { FACT_KINDS, type FactKind } from '../domain/fact-kinds.ts';
import type { EpochMs } from '../domain/time.ts';
import { appsOf, groupsOfRuns, withRuns } from './run-groups.ts';
import { MAX_SECONDS, readStates } from './seal-states.ts';
import type { SealDeps } from './stretch.ts';

/**
 * Drops the facts of `only` (all apps by default) from the horizon on: raw rows answer until they are sealed
 * again. The facts before it stay, for their raw rows are gone. Resolves to the number of apps.
 */
export async function unseal(
  { db, only = [] }: SealDeps,
  now: EpochMs,
  kinds: readonly FactKind[] = FACT_KINDS,
): Promise<number> {
  const apps = new Set<string>();
  for (const kind of kinds) {
    const all = appsOf(await readStates({ db, only }, kind, now, true));
    for (const group of groupsOfRuns(db, all, (app) => app)) {
      await withRuns(db, kind, group, 1, async (run) => {
        const states = await readStates({ db, only: group }, kind, now, true);
        const sealed = states.filter(({ until, horizon }) => until > horizon);
        if (sealed.length === 0) return;
        await run.publish(
          sealed.map(({ app, step, horizon }) => ({
            app,
            step: step + 1,
            until: horizon,
            era: run.number,
            rebuilt: run.number,
            horizon,
          })),
        );
        for (const { app } of sealed) apps.add(app);
      });
    }
  }
  return apps.size;
}

const BARE: Query<{ app: string; last: number }> = {
  name: 'sessions without details',
  sql: sql`SELECT toString(app_id) AS app, max(started_at) AS last FROM session_facts WHERE session = 0 GROUP BY app_id`,
  row: z.object({ app: z.string(), last: z.number() }),
};

/**
 * Drops the session facts of the apps of which an earlier version wrote some, which lack what segments need. Those from before
 * the horizon stay without. Resolves to the number of apps.
 */
export async function unsealBare({ db }: SealDeps, now: EpochMs): Promise<number> {
  const bare = await db.query(BARE, {}, { lane: 'seal', maxSeconds: MAX_SECONDS, everyShard: true });
  if (bare.length === 0) return 0;
  const last = new Map(bare.map((row) => [row.app, row.last]));
  const states = await readStates({ db, only: [...last.keys()] }, 'session', now, true);
  const only = states
    .filter(({ app, until, horizon }) => {
      const at = last.get(app) ?? -1;
      return at >= horizon && at < until;
    })
    .map(({ app }) => app);
  return only.length === 0 ? 0 : unseal({ db, only }, now, ['session']);
}
