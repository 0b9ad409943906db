import { AppError } from '../domain/errors.ts';
import type { EpochMs } from '../domain/time.ts';
import { FACT_KINDS, type FactKind } from './kinds.ts';
import { repair } from './repair.ts';
import { appsOf, groupsOfRuns } from './run-groups.ts';
import { RunEnded } from './runs.ts';
import { sealStretch } from './seal.ts';
import { type AppState, endOf, readStates, startOf } from './seal-states.ts';
import type { SealDeps } from './stretch.ts';
import { Turns } from './turns.ts';

/** How the time of a pass is shared. */
export interface Fairness {
  /** The most time that one app gets of a pass, in ms; unlimited by default. */
  readonly budgetMs?: number;
  /** How long late events wait, so that one repair covers many of them, in ms; 0 by default. */
  readonly repairAfterMs?: number;
  /** Carried over from one pass of this process to the next. */
  readonly turns?: Turns;
}

/**
 * Seals what is ripe at `now`, in rounds: in each round, every app with something to seal gets one stretch of
 * each kind. Apps that are sealed to the same hour share a stretch. Ends when nothing is left, or when all
 * that is left has to wait for the next pass. A failure of one app does not stop the others; the first one is
 * thrown at the end. If the store does not answer, the pass ends at once.
 */
export async function seal(
  deps: SealDeps,
  now: EpochMs,
  { budgetMs = Number.POSITIVE_INFINITY, repairAfterMs = 0, turns = new Turns() }: Fairness = {},
): Promise<void> {
  const spent = new Map<string, number>();
  const waiting = new Set<string>();
  const [seen, seenLate] = [new Set<string>(), new Set<string>()];
  const failures: unknown[] = [];
  /** Resolves to false if another process seals the apps. */
  const turn = async (
    kind: FactKind,
    apps: readonly string[],
    work: () => Promise<readonly string[]>,
  ): Promise<boolean> => {
    const started = performance.now();
    let isOurs = true;
    try {
      for (const app of await work()) waiting.add(keyOf(kind, app));
    } catch (error) {
      if (isStoreAway(error) || deps.signal?.aborted) throw error;
      if (error instanceof RunEnded) isOurs = false;
      else failures.push(error);
      for (const app of apps) waiting.add(keyOf(kind, app));
    }
    const each = (performance.now() - started) / apps.length;
    for (const app of apps) spent.set(app, (spent.get(app) ?? 0) + each);
    return isOurs;
  };
  const hasTurn = (kind: FactKind, app: string): boolean =>
    !waiting.has(keyOf(kind, app)) && (spent.get(app) ?? 0) < budgetMs;
  for (let hasWorked = true; hasWorked; ) {
    hasWorked = false;
    for (const kind of FACT_KINDS) {
      const states = await readStates(deps, kind, now, false);
      for (const { app, late } of states) {
        seen.add(keyOf(kind, app));
        if (late > 0) seenLate.add(keyOf(kind, app));
      }
      const open = states.filter(({ app }) => hasTurn(kind, app));
      const repaired = new Set<string>();
      for (const state of open.filter(({ late }) => late > 0)) {
        const key = keyOf(kind, state.app);
        if (!turns.mayRepair(key, state.late, repairAfterMs)) continue;
        const started = performance.now();
        repaired.add(state.app);
        await turn(kind, [state.app], async () => {
          await repair(deps, now, kind, state);
          return [];
        });
        turns.repaired(key, started);
        hasWorked = true;
      }
      const further = open.filter(
        (state) =>
          !repaired.has(state.app) &&
          startOf(state) < endOf(state) &&
          turns.isDue(keyOf(kind, state.app), state.step),
      );
      const isAlone = ({ app, step }: AppState): boolean => turns.hasFailed(keyOf(kind, app), step);
      for (const group of groupsOf(deps.db, further, isAlone)) {
        if (await turn(kind, appsOf(group), () => sealStretch(deps, now, kind, group)))
          for (const { app, step } of group) turns.attempted(keyOf(kind, app), step);
        hasWorked = true;
      }
      deps.signal?.throwIfAborted();
    }
  }
  turns.endPass(seen, seenLate);
  if (failures.length > 0) throw failures[0];
}

const keyOf = (kind: FactKind, app: string): string => `${kind} ${app}`;

const isStoreAway = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'store_unavailable';

/** Groups apps that are sealed to the same hour, but for those that are sealed alone. */
function groupsOf(
  db: SealDeps['db'],
  states: readonly AppState[],
  isAlone: (state: AppState) => boolean,
): AppState[][] {
  const alone: AppState[][] = [];
  const byStart = new Map<number, AppState[]>();
  for (const state of states) {
    const start = startOf(state);
    const group = byStart.get(start);
    if (isAlone(state)) alone.push([state]);
    else if (group === undefined) byStart.set(start, [state]);
    else group.push(state);
  }
  const groups = [...byStart.values()].flatMap((group) => groupsOfRuns(db, group, ({ app }) => app));
  return [...groups, ...alone];
}
