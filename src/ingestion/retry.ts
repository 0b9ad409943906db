import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { engineCode } from '../clickhouse/errors.ts';
import { AppError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** After so many refusals the rows are suspected, and again after as many more; after the first where that has just been right. */
const TRIES = 4;
const SUSPICION_MS = 10 * MINUTE_MS;

export type IngestLog = Pick<Logger, 'info' | 'warn' | 'error'>;

/** What is stored of rows that the store refuses for what they hold. */
export type RefusedRest = 'nothing' | 'a part';

/** The store refuses rows for what they hold: no repetition will help. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** The engine's code for the reason; null where it gave none. */
  readonly code: number | null;
  readonly stored: RefusedRest;

  constructor(statement: string, stored: RefusedRest, cause: unknown) {
    super(`The store refuses the rows: ${statement}.`, { cause });
    this.code = engineCode(cause);
    this.stored = stored;
  }
}

/**
 * Sends statements until the store has taken them. A failed one is in doubt (a timeout says nothing about the
 * outcome), so what is sent again must be the identical statement with the same token.
 */
export class Persistence {
  readonly #log: IngestLog;
  readonly #stop = new AbortController();
  #failingSince: number | null = null;
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(log: IngestLog) {
    this.#log = log;
  }

  /** For how long the store has refused everything, in ms; 0 when it answers. */
  get failingForMs(): number {
    return this.#failingSince === null ? 0 : performance.now() - this.#failingSince;
  }

  /** Whether rows were refused lately, for what they hold. */
  get isSuspicious(): boolean {
    return performance.now() - this.#refusedAt < SUSPICION_MS;
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Ends all waiting: what is in doubt stays in the journal, for the next start. */
  stop(): void {
    this.#stop.abort();
  }

  /**
   * Throws `store_unavailable` after `stop`, and Refused where `trial` finds that it is the rows that cannot be stored; null: it is not.
   * Whatever else is wrong is waited for.
   */
  async until<T>(
    name: string,
    statement: (attempt: number) => Promise<T>,
    trial: () => Promise<RefusedRest | null> = async () => null,
  ): Promise<T> {
    const tries = this.isSuspicious ? 1 : TRIES;
    for (let [attempt, refusals] = [0, 0]; ; attempt++) {
      try {
        const result = await statement(attempt);
        this.#failingSince = null;
        return result;
      } catch (error) {
        const isRefusal = !(error instanceof AppError);
        if (isRefusal) refusals++;
        if (isRefusal && refusals % tries === 0) {
          const stored = await trial().catch(() => null);
          if (stored !== null) throw this.refused(name, stored, error);
        }
        this.#failingSince ??= performance.now();
        const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
        this.#log.warn({ err: error, name, attempt, pauseMs }, 'ingestion: the store did not take it');
        await this.#pause(pauseMs);
      }
    }
  }

  /** To be thrown: from now on other rows are suspected sooner. */
  refused(name: string, stored: RefusedRest, cause: unknown): Refused {
    this.#refusedAt = performance.now();
    this.#failingSince = null;
    return new Refused(name, stored, cause);
  }

  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { signal: this.#stop.signal });
    } catch {
      throw new AppError('store_unavailable', 'The service is stopping. Try again shortly.', {
        retryAfterSeconds: 5,
      });
    }
  }
}
