import { AppError } from '../domain/errors.ts';
import type { Locks } from '../domain/locks.ts';
import { type Clock, MINUTE_MS, toIso } from '../domain/time.ts';
import { purgeSessions } from './purge.ts';
import { type SealDeps, type Stretch, seal, unseal } from './seal.ts';
import { FACT_KINDS, type SealState, sealStates } from './seal-states.ts';
import type { FactKind } from './watermarks.ts';

export interface SealerDeps extends Pick<SealDeps, 'db' | 'readers'> {
  readonly clock: Clock;
  readonly locks: Locks;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/** How far sealing is behind, over all apps. */
export interface SealingHealth {
  /** Seconds by which the app that is furthest behind could be sealed further; 0 when all is sealed that is ripe. */
  readonly lagSeconds: { readonly [Kind in FactKind]: number };
  /** When the last run of this process ended well; null before. */
  readonly lastRunAt: string | null;
  /** When this was measured; null before. */
  readonly measuredAt: string | null;
}

/** The job that seals: every minute, one process at a time. */
export interface Sealer {
  /** As it was measured after the last run: asks nothing of the store. */
  readonly health: SealingHealth;
  start(): void;
  /** Seals what is ripe now; resolves at once where another process is at it. */
  run(): Promise<void>;
  /** How far each app is sealed. */
  states(): Promise<SealState[]>;
  /** Forgets the facts of an app, or of all, and starts to build them again. Resolves to the number of apps. */
  rebuild(only?: readonly string[]): Promise<number>;
  /** Ends after the stretch at hand. */
  stop(): Promise<void>;
}

const LOCK = 'sealing';

export function createSealer(deps: SealerDeps): Sealer {
  return new MinuteSealer(deps);
}

class MinuteSealer implements Sealer {
  readonly #deps: SealerDeps;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #health: SealingHealth = { lagSeconds: { page: 0, session: 0 }, lastRunAt: null, measuredAt: null };

  constructor(deps: SealerDeps) {
    this.#deps = deps;
  }

  get health(): SealingHealth {
    return this.#health;
  }

  start(): void {
    void this.run();
    this.#timer = setInterval(() => void this.run(), MINUTE_MS);
    this.#timer.unref();
  }

  run(): Promise<void> {
    this.#running ??= this.#pass().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  states(): Promise<SealState[]> {
    return sealStates(this.#deps, this.#deps.clock());
  }

  async rebuild(only?: readonly string[]): Promise<number> {
    const { db, readers, locks } = this.#deps;
    await this.#running;
    const apps = await locks.withLock(LOCK, () => unseal({ db, readers, ...(only ? { only } : {}) }));
    void this.run();
    return apps;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#ending.abort();
    await this.#running;
  }

  async #pass(): Promise<void> {
    const { db, readers, locks, clock, log } = this.#deps;
    const onStretch = (stretch: Stretch): void => log.info(described(stretch), 'sealed');
    let { lastRunAt } = this.#health;
    try {
      await locks.withLock(LOCK, async () => {
        const { signal } = this.#ending;
        await seal({ db, readers, onStretch, signal }, clock());
        if (signal.aborted) return;
        const apps = await purgeSessions({ db, readers, signal }, clock());
        if (apps > 0) log.info({ apps }, 'purged sessions that are sealed');
      });
      lastRunAt = toIso(clock());
    } catch (error) {
      // Taken: another process seals.
      if (!(error instanceof AppError && error.code === 'overloaded')) {
        log.warn({ err: error }, 'sealing stopped; it goes on within a minute');
      }
    }
    await this.#measure(lastRunAt);
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

const described = ({ kind, apps, events, from, to, ms }: Stretch): object => ({
  kind,
  apps,
  events,
  from: toIso(from),
  to: toIso(to),
  ms: Math.round(ms),
  eventsPerSecond: Math.round((events * 1000) / Math.max(ms, 1)),
});
