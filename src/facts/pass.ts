import { AppError } from '../domain/errors.ts';
import type { EpochMs } from '../domain/time.ts';
import { FACT_KINDS, type FactKind } from './kinds.ts';
import { repair } from './repair.ts';
import { groupsOfRuns } from './run-groups.ts';
import { RunEnded } from './runs.ts';
import { sealStretch } from './seal.ts';
import { type AppState, endOf, readStates, startOf } from './seal-states.ts';
import type { SealDeps } from './stretch.ts';

/** After a repair, an app waits this many times the repair's duration for the next one. */
const REST = 10;

/** From this many late events on, a repair does not wait. */
const MANY_LATE = 1_000;

/** What a process carries over from one pass to the next. */
export interface Fairness {
  /** The most time that one app gets of a pass, in ms; unlimited by default. */
  readonly budgetMs?: number;
  /** How long late events wait, so that one repair covers many of them, in ms; 0 by default. */
  readonly repairAfterMs?: number;
  /** When an app may be repaired again (ms of `performance.now`), by kind and app. */
  readonly rests: Map<string, number>;
  /** Since when an app has late events that wait, by kind and app. */
  readonly lateSince: Map<string, number>;
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
  { budgetMs = Number.POSITIVE_INFINITY, repairAfterMs = 0, rests, lateSince }: Fairness = {
    rests: new Map(),
    lateSince: new Map(),
  },
): Promise<void> {
  const spent = new Map<string, number>();
  const waiting = new Set<string>();
  const seenLate = new Set<string>();
  const failures: unknown[] = [];
  const turn = async (kind: FactKind, apps: readonly string[], work: () => Promise<readonly string[]>) => {
    const started = performance.now();
    try {
      for (const app of await work()) waiting.add(keyOf(kind, app));
    } catch (error) {
      if (isStoreAway(error) || deps.signal?.aborted) throw error;
      if (!(error instanceof RunEnded)) failures.push(error);
      for (const app of apps) waiting.add(keyOf(kind, app));
    }
    const each = (performance.now() - started) / apps.length;
    for (const app of apps) spent.set(app, (spent.get(app) ?? 0) + each);
  };
  const hasTurn = (kind: FactKind, app: string): boolean =>
    !waiting.has(keyOf(kind, app)) && (spent.get(app) ?? 0) < budgetMs;
  for (let hasWorked = true; hasWorked; ) {
    hasWorked = false;
    for (const kind of FACT_KINDS) {
      const open = (await readStates(deps, kind, now, false)).filter(({ app }) => hasTurn(kind, app));
      const repaired = new Set<string>();
      for (const state of open.filter(({ late }) => late > 0)) {
        const key = keyOf(kind, state.app);
        const started = performance.now();
        const since = lateSince.get(key) ?? started;
        lateSince.set(key, since);
        seenLate.add(key);
        if (state.late < MANY_LATE && started - since < repairAfterMs) continue;
        // One repair in a pass: events that come late meanwhile wait for the next one.
        if ((rests.get(key) ?? 0) > started) continue;
        lateSince.delete(key);
        repaired.add(state.app);
        await turn(kind, [state.app], async () => {
          await repair(deps, now, kind, state);
          return [];
        });
        const ended = performance.now();
        rests.set(key, ended + REST * (ended - started));
        hasWorked = true;
      }
      for (const group of groupsOf(
        deps.db,
        open.filter(({ app }) => !repaired.has(app)),
      )) {
        const apps = group.map(({ app }) => app);
        await turn(kind, apps, () => sealStretch(deps, now, kind, group));
        hasWorked = true;
      }
      deps.signal?.throwIfAborted();
    }
  }
  forgetRests(rests);
  for (const key of lateSince.keys()) if (!seenLate.has(key)) lateSince.delete(key);
  if (failures.length > 0) throw failures[0];
}

const keyOf = (kind: FactKind, app: string): string => `${kind} ${app}`;

const isStoreAway = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'store_unavailable';

/** Groups apps that are sealed to the same hour and may be sealed further. */
function groupsOf(db: SealDeps['db'], states: readonly AppState[]): AppState[][] {
  const byStart = new Map<number, AppState[]>();
  for (const state of states) {
    if (startOf(state) >= endOf(state)) continue;
    const group = byStart.get(startOf(state));
    if (group === undefined) byStart.set(startOf(state), [state]);
    else group.push(state);
  }
  return [...byStart.values()].flatMap((group) => groupsOfRuns(db, group, ({ app }) => app));
}

function forgetRests(rests: Map<string, number>): void {
  for (const [key, until] of rests) if (until < performance.now()) rests.delete(key);
}
