import { AppError } from '../domain/errors.ts';
import { FACT_KINDS, type FactKind } from '../domain/fact-kinds.ts';
import type { EpochMs } from '../domain/time.ts';
import { repair } from './repair.ts';
import { appsOf, groupsOfRuns } from './run-groups.ts';
import { RunEnded } from './runs.ts';
import { sealStretch } from './seal.ts';
import { type AppState, endOf, readStates, startOf } from './seal-states.ts';
import type { SealDeps } from './stretch.ts';
import { Turns } from './turns.ts';

/** After a failure, a group is split into so many. */
const SMALLER = 8;

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
 * Seals the hours that are ripe at `now`, in rounds: in each round, every app with something to seal gets one
 * stretch of each kind. Apps that are sealed to the same hour share a stretch, unless it failed before. Ends when nothing is
 * left, or when all that is left has to wait for a later pass. A failure of one app does not stop the others; the first one is
 * thrown at the end. If the store does not answer, the pass ends at once.
 */
export async function seal(deps: SealDeps, now: EpochMs, fairness: Fairness = {}): Promise<void> {
  const pass = new Pass(deps, now, fairness);
  while (await pass.round());
  pass.end();
}

class Pass {
  readonly #deps: SealDeps;
  readonly #now: EpochMs;
  readonly #budgetMs: number;
  readonly #repairAfterMs: number;
  readonly #turns: Turns;
  /** The time that each app has had, in ms. */
  readonly #spent = new Map<string, number>();
  /** Apps that wait for the next pass, by kind. */
  readonly #waiting = new Set<string>();
  /** Apps that had something to seal, and those with late events, by kind. */
  readonly #seen = new Set<string>();
  readonly #seenLate = new Set<string>();
  readonly #failures: unknown[] = [];

  constructor(deps: SealDeps, now: EpochMs, fairness: Fairness) {
    const { budgetMs = Number.POSITIVE_INFINITY, repairAfterMs = 0, turns = new Turns() } = fairness;
    this.#deps = deps;
    this.#now = now;
    this.#budgetMs = budgetMs;
    this.#repairAfterMs = repairAfterMs;
    this.#turns = turns;
  }

  /** Gives a turn to each app that has something to seal. Resolves to false if none had one. */
  async round(): Promise<boolean> {
    let hasWorked = false;
    for (const kind of FACT_KINDS) {
      const states = await readStates(this.#deps, kind, this.#now, false);
      this.#note(kind, states);
      const open = states.filter(({ app }) => this.#hasTurn(kind, app));
      const repaired = await this.#repair(kind, open);
      const hasSealed = await this.#seal(
        kind,
        open.filter(({ app }) => !repaired.has(app)),
      );
      hasWorked ||= hasSealed || repaired.size > 0;
      this.#deps.signal?.throwIfAborted();
    }
    return hasWorked;
  }

  /** Throws the first failure. */
  end(): void {
    this.#turns.endPass(this.#seen, this.#seenLate);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  #note(kind: FactKind, states: readonly AppState[]): void {
    for (const { app, late } of states) {
      this.#seen.add(keyOf(kind, app));
      if (late > 0) this.#seenLate.add(keyOf(kind, app));
    }
  }

  #hasTurn(kind: FactKind, app: string): boolean {
    return !this.#waiting.has(keyOf(kind, app)) && (this.#spent.get(app) ?? 0) < this.#budgetMs;
  }

  /** Returns the apps whose turn was a repair. */
  async #repair(kind: FactKind, states: readonly AppState[]): Promise<ReadonlySet<string>> {
    const repaired = new Set<string>();
    for (const state of states.filter(({ late }) => late > 0)) {
      const key = keyOf(kind, state.app);
      if (!this.#turns.mayRepair(key, state.late, this.#repairAfterMs)) continue;
      const started = performance.now();
      repaired.add(state.app);
      await this.#turn(kind, [state.app], async () => {
        await repair(this.#deps, this.#now, kind, state);
        return [];
      });
      this.#turns.repaired(key, started);
    }
    return repaired;
  }

  /** Resolves to false if there was nothing to seal. */
  async #seal(kind: FactKind, states: readonly AppState[]): Promise<boolean> {
    const further = states.filter(
      (state) => startOf(state) < endOf(state) && this.#turns.isDue(keyOf(kind, state.app), state.step),
    );
    const triesOf = ({ app, step }: AppState): number => this.#turns.triesOf(keyOf(kind, app), step);
    for (const group of groupsOf(this.#deps.db, further, triesOf)) {
      const isOurs = await this.#turn(kind, appsOf(group), () =>
        sealStretch(this.#deps, this.#now, kind, group),
      );
      if (isOurs) for (const { app, step } of group) this.#turns.attempted(keyOf(kind, app), step);
    }
    return further.length > 0;
  }

  /** `work` resolves to the apps that wait for the next pass. Resolves to false if another process seals these apps. */
  async #turn(
    kind: FactKind,
    apps: readonly string[],
    work: () => Promise<readonly string[]>,
  ): Promise<boolean> {
    const started = performance.now();
    let isOurs = true;
    try {
      for (const app of await work()) this.#waiting.add(keyOf(kind, app));
    } catch (error) {
      if (isStoreAway(error) || this.#deps.signal?.aborted) throw error;
      if (error instanceof RunEnded) isOurs = false;
      else this.#failures.push(error);
      for (const app of apps) this.#waiting.add(keyOf(kind, app));
    }
    const each = (performance.now() - started) / apps.length;
    for (const app of apps) this.#spent.set(app, (this.#spent.get(app) ?? 0) + each);
    return isOurs;
  }
}

const keyOf = (kind: FactKind, app: string): string => `${kind} ${app}`;

const isStoreAway = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'store_unavailable';

/** Groups apps that are sealed to the same hour. After each failure, the groups are smaller. */
function groupsOf(
  db: SealDeps['db'],
  states: readonly AppState[],
  triesOf: (state: AppState) => number,
): AppState[][] {
  const alike = new Map<string, { readonly tries: number; readonly group: AppState[] }>();
  for (const state of states) {
    const tries = triesOf(state);
    const key = `${startOf(state)} ${tries}`;
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { tries, group: [state] });
    else known.group.push(state);
  }
  return [...alike.values()].flatMap(({ tries, group }) =>
    groupsOfRuns(db, group, ({ app }) => app).flatMap((apps) => split(apps, SMALLER ** tries)),
  );
}

/** Splits a list into so many parts, or into single elements. */
function split<T>(list: readonly T[], parts: number): T[][] {
  const size = Math.ceil(list.length / parts);
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  );
}
