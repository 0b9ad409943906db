import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { engineCode, isOfContent } from '../clickhouse/errors.ts';
import { AppError } from '../domain/errors.ts';
import { inProcessLocks } from '../domain/locks.ts';
import type { BatchKey } from './batch-key.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** A step that the store refuses this often for its content is given up, so that it delays no others. */
const TRIES = 3;

export type IngestLog = Pick<Logger, 'info' | 'warn' | 'error'>;

/**
 * How much is stored of rows that the store refuses because of their content. `nothing`: a trial has shown that these rows
 * are the reason. `unproven`: the step was refused, which changes nothing about what is stored.
 */
export type RefusedRest = 'nothing' | 'a part' | 'unproven';

/** What a trial has shown. `batches`: those of the flush whose rows are the reason; null if that is unknown. */
export interface Finding {
  readonly stored: RefusedRest;
  readonly batches: readonly BatchKey[] | null;
}

/** How a step is given up that the store refuses because of its content. */
export interface IfRefused {
  /** Called when the step is refused: others must not wait for what follows. */
  readonly refused?: () => void;
  /**
   * Finds out whether the rows are at fault; null if that cannot be shown. `isCertain`: no attempt had an unknown outcome.
   */
  readonly trial?: (isCertain: boolean) => Promise<Finding | null>;
  /** Said of a step that is refused again and again while no trial shows the reason. */
  readonly rest?: RefusedRest;
}

/** The store refuses rows because of their content: no repetition will help. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** The engine's code for the reason; null if it gave none. */
  readonly code: number | null;
  readonly stored: RefusedRest;
  readonly batches: Finding['batches'];

  constructor(statement: string, { stored, batches }: Finding, cause: unknown) {
    super(`The store refuses the rows: ${statement}.`, { cause });
    this.code = engineCode(cause);
    this.stored = stored;
    this.batches = batches;
  }
}

/**
 * Sends statements until the store has accepted them. The outcome of a failed statement is unknown: a timeout
 * says nothing about it. So the identical statement is sent again, with the same token.
 */
export class Persistence {
  readonly #log: IngestLog;
  readonly #stop = new AbortController();
  #failingSince: number | null = null;
  readonly #trials = inProcessLocks();
  /** Statements that have failed and are repeated. */
  readonly #repeated = new Set<object>();

  constructor(log: IngestLog) {
    this.#log = log;
  }

  /** For how long the store has refused every statement, in ms; 0 while it answers. */
  get failingForMs(): number {
    return this.#failingSince === null ? 0 : performance.now() - this.#failingSince;
  }

  /** True while a statement that has failed is repeated. */
  get isRepeating(): boolean {
    return this.#repeated.size > 0;
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Ends all waiting. Flushes with an unknown outcome stay in the journal for the next start. */
  stop(): void {
    this.#stop.abort();
  }

  /**
   * Repeats `statement` until it succeeds. Throws `store_unavailable` after `stop`, and Refused if the store refuses its
   * content: as soon as the trial has an answer, or after some attempts. All other failures are waited out.
   */
  async until<T>(
    name: string,
    statement: (attempt: number) => Promise<T>,
    { refused = () => undefined, trial = async () => null, rest = 'unproven' }: IfRefused = {},
  ): Promise<T> {
    const own = {};
    try {
      for (let [attempt, refusals] = [0, 0]; ; attempt++) {
        try {
          const result = await statement(attempt);
          this.#failingSince = null;
          return result;
        } catch (error) {
          this.#repeated.add(own);
          if (isOfContent(error)) {
            refused();
            const isCertain = refusals++ === attempt;
            const finding = await this.alone(() => trial(isCertain)).catch(() => null);
            if (finding !== null) throw this.refused(name, finding, error);
            const stored = isCertain ? rest : 'a part';
            if (refusals >= TRIES) throw this.refused(name, { stored, batches: null }, error);
          }
          this.#failingSince ??= performance.now();
          const pauseMs =
            Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
          this.#log.warn(
            { err: error, name, attempt, pauseMs },
            'ingestion: the store did not accept a statement',
          );
          await this.#pause(pauseMs);
        }
      }
    } finally {
      this.#repeated.delete(own);
    }
  }

  /** Runs one trial after the other, so that the flushes that go on beside them have the store nearly to themselves. */
  alone<T>(trial: () => Promise<T>): Promise<T> {
    return this.#trials.withLock('trial', trial);
  }

  /** Returns the error to throw. */
  refused(name: string, finding: Finding, cause: unknown): Refused {
    this.#failingSince = null;
    return new Refused(name, finding, cause);
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
