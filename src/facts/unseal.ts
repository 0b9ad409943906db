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

const BARE: Query<{ app: string }> = {
  name: 'sessions without details',
  sql: sql`SELECT DISTINCT toString(app_id) AS app FROM session_facts WHERE session = 0`,
  row: z.object({ app: z.string() }),
};

const BARE_OF_APP: Query<{ bare: number }> = {
  name: 'sessions without details, of an app',
  sql: sql`SELECT count() AS bare FROM session_facts
WHERE app_id = {app:UUID} AND session = 0 AND started_at >= {horizon:Int64} AND started_at < {until:Int64}`,
  row: z.object({ bare: z.number() }),
};

const OPTIONS = { lane: 'seal', maxSeconds: MAX_SECONDS } as const;

/**
 * Drops the session facts of the apps of which an earlier version wrote some, which lack what segments need. Those from before
 * the horizon stay without. Resolves to the number of apps, and of those that wait because a visitor is being erased.
 */
export async function unsealBare(
  { db }: SealDeps,
  now: EpochMs,
): Promise<{ readonly apps: number; readonly waiting: number }> {
  const bare = await db.query(BARE, {}, { ...OPTIONS, everyShard: true });
  if (bare.length === 0) return { apps: 0, waiting: 0 };
  const read = { db, only: bare.map(({ app }) => app), erasing: true };
  const only: string[] = [];
  for (const { app, horizon, until } of await readStates(read, 'session', now, true)) {
    // Rows from the watermark on are those of runs that ended. They are deleted before anything is sealed there.
    const own = await db.queryOne(BARE_OF_APP, { app, horizon, until }, OPTIONS);
    if (own.bare > 0) only.push(app);
  }
  const apps = only.length === 0 ? 0 : await unseal({ db, only }, now, ['session']);
  return { apps, waiting: only.length - apps };
}
