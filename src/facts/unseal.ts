import { FACT_KINDS } from '../domain/fact-kinds.ts';
import type { EpochMs } from '../domain/time.ts';
import { appsOf, groupsOfRuns, withRuns } from './run-groups.ts';
import { readStates } from './seal-states.ts';
import type { SealDeps } from './stretch.ts';

/**
 * Drops the facts of `only` (all apps by default) from the horizon on: raw rows answer until they are sealed
 * again. The facts before it stay, for their raw rows are gone. Resolves to the number of apps.
 */
export async function unseal({ db, only = [] }: SealDeps, now: EpochMs): Promise<number> {
  const apps = new Set<string>();
  for (const kind of FACT_KINDS) {
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
