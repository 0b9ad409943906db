import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import { every, type Repeated } from '../domain/every.ts';
import { FACT_KINDS, type FactKind } from '../domain/fact-kinds.ts';
import { type Clock, HOUR_MS, MINUTE_MS, toIso } from '../domain/time.ts';
import { sharingOf } from '../sharing/choose.ts';
import type { Lease } from '../sharing/sharing.ts';
import { expire, type Retention } from './expiry.ts';
import { type Fairness, seal } from './pass.ts';
import { purgeSessions } from './purge.ts';
import { forgetRuns, RunEnded } from './runs.ts';
import { type SealState, sealStates } from './seal-states.ts';
import type { SealDeps, Stretch } from './stretch.ts';
import { Turns } from './turns.ts';
import { unseal, unsealBare } from './unseal.ts';

export interface SealerDeps extends Pick<SealDeps, 'db'> {
  readonly clock: Clock;
  /** Reads the apps whose raw events expire; none by default. */
  readonly retentions?: () => Promise<readonly Retention[]>;
  /** Called with the number of events that were deleted because their retention ended. */
  readonly onExpired?: (events: number) => void;
  /** Time from the start of one pass to the start of the next; a minute by default. */
  readonly intervalMs?: number;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/** How far sealing is behind, over all apps. */
export interface SealingHealth {
  /** The lag of the app that is furthest behind, in seconds; 0 if everything ripe is sealed. */
  readonly lagSeconds: { readonly [Kind in FactKind]: number };
  /** When the last pass of this process ended well; null before. */
  readonly lastRunAt: string | null;
  /** When this was measured; null before. */
  readonly measuredAt: string | null;
}

/** The job that seals repeatedly, in one process at a time. */
export interface Sealer {
  /** As measured after the last pass; does not ask the store. */
  readonly health: SealingHealth;
  start(): void;
  /** Seals all that is ripe at the time of the call; resolves at once if another process seals. */
  run(): Promise<void>;
  /** Tells how far each app is sealed. */
  states(): Promise<SealState[]>;
  /**
   * Drops the facts of some apps, or of all, and starts to build them again. Resolves to the number of apps.
   * Rejects with `overloaded` if other passes seal them all the time.
   */
  rebuild(only?: readonly string[]): Promise<number>;
  /** Ends after the current statement. */
  stop(): Promise<void>;
}

/** The most time that one app gets of a pass. */
const BUDGET_MS = 20_000;
/**
 * How long a repair waits. It rewrites whole hours, while questions correct for a few late events by
 * themselves.
 */
const REPAIR_AFTER_MS = HOUR_MS;

/** How often expired events are looked for while the settings stay the same. The horizons move once a day. */
const EXPIRY_EVERY_MS = 10 * MINUTE_MS;

/** How often a rebuild is tried if others end it. The pauses grow and differ, so that two do not meet again. */
const MOST_ATTEMPTS = 8;
const PAUSE_MS = 500;

export function createSealer(deps: SealerDeps): Sealer {
  return new RepeatedSealer(deps);
}

class RepeatedSealer implements Sealer {
  readonly #deps: SealerDeps;
  readonly #lease: Lease;
  readonly #fairness: Fairness = {
    budgetMs: BUDGET_MS,
    repairAfterMs: REPAIR_AFTER_MS,
    turns: new Turns(),
  };
  readonly #ending = new AbortController();
  /** The settings of the last expiry, and when the next one is due (ms of `performance.now`). */
  #expiry = { settings: '', next: 0 };
  readonly #passes: Repeated;
  /** Facts of an earlier version are looked for until none is left. */
  #hasDetails = false;
  #health: SealingHealth = { lagSeconds: { page: 0, session: 0 }, lastRunAt: null, measuredAt: null };

  constructor(deps: SealerDeps) {
    this.#deps = deps;
    this.#lease = sharingOf(deps.db).sealing();
    const { log, intervalMs: ms = MINUTE_MS } = deps;
    this.#passes = every({ name: 'sealing', ms, log }, () => this.#pass());
  }

  get health(): SealingHealth {
    return this.#health;
  }

  start(): void {
    this.#passes.start();
  }

  run(): Promise<void> {
    return this.#passes.run();
  }

  states(): Promise<SealState[]> {
    return sealStates(this.#deps, this.#deps.clock());
  }

  async rebuild(only?: readonly string[]): Promise<number> {
    const { db, clock } = this.#deps;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      // Waits for this process's pass. A run of another process is ended by `unseal`.
      await this.#passes.idle();
      try {
        const apps = await unseal({ db, ...(only ? { only } : {}) }, clock());
        void this.run();
        return apps;
      } catch (error) {
        // A pass or a rebuild that began after this run has ended it.
        if (!(error instanceof RunEnded)) throw error;
        await sleep(randomInt(PAUSE_MS) * (attempt + 1));
      }
    }
    throw new AppError('overloaded', 'These apps are being sealed. Try again shortly.', {
      retryAfterSeconds: 5,
    });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#passes.end();
  }

  async #pass(): Promise<void> {
    const { log, clock } = this.#deps;
    let { lastRunAt } = this.#health;
    try {
      await this.#lease.hold((lost) => this.#sealAll(AbortSignal.any([lost, this.#ending.signal])));
      lastRunAt = toIso(clock());
    } catch (error) {
      if (!this.#ending.signal.aborted) log.warn({ err: error }, 'sealing stopped; the next pass goes on');
    }
    await this.#measure(lastRunAt);
  }

  async #sealAll(signal: AbortSignal): Promise<void> {
    const { db, clock, log } = this.#deps;
    if (!this.#hasDetails) {
      const { apps, waiting } = await unsealBare({ db }, clock());
      if (apps > 0) log.info({ apps }, 'facts of an earlier version are built again');
      this.#hasDetails = waiting === 0;
    }
    const onStretch = (stretch: Stretch): void => log.info(described(stretch), 'sealed');
    await seal({ db, onStretch, signal }, clock(), this.#fairness);
    const apps = await purgeSessions({ db, signal }, clock());
    if (apps > 0) log.info({ apps }, 'purged sessions that are sealed');
    await this.#expire(signal);
    await forgetRuns(db);
  }

  async #expire(signal: AbortSignal): Promise<void> {
    const { db, clock, log, retentions = async () => [] } = this.#deps;
    const inForce = await retentions();
    const settings = JSON.stringify(inForce);
    if (settings === this.#expiry.settings && performance.now() < this.#expiry.next) return;
    const expired = await expire({ db, signal }, clock(), inForce);
    if (expired.apps > 0) {
      log.info({ ...expired, ms: Math.round(expired.ms) }, 'deleted expired events');
      this.#deps.onExpired?.(expired.events);
    }
    this.#expiry = { settings, next: performance.now() + EXPIRY_EVERY_MS };
  }

  async #measure(lastRunAt: string | null): Promise<void> {
    if (this.#ending.signal.aborted) return;
    try {
      const states = await this.states();
      const [page = 0, session = 0] = FACT_KINDS.map((kind) =>
        Math.max(0, ...states.filter((state) => state.kind === kind).map(({ lagMs }) => lagMs / 1000)),
      );
      this.#health = { lagSeconds: { page, session }, lastRunAt, measuredAt: toIso(this.#deps.clock()) };
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the sealing lag could not be measured');
    }
  }
}

const described = ({ kind, apps, events, from, to, isRepair, ms }: Stretch): object => ({
  kind,
  ...(isRepair ? { repair: true } : {}),
  apps,
  events,
  from: toIso(from),
  to: toIso(to),
  ms: Math.round(ms),
  eventsPerSecond: Math.round((events * 1000) / Math.max(ms, 1)),
});
