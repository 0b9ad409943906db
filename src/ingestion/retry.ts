import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { engineCode } from '../clickhouse/errors.ts';
import { AppError } from '../domain/errors.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/** The engine could not read the rows: sending them again will not help, and none of them was stored. */
const UNREADABLE = new Set([
  6, // CANNOT_PARSE_TEXT
  25, // CANNOT_PARSE_ESCAPE_SEQUENCE
  26, // CANNOT_PARSE_QUOTED_STRING
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  41, // CANNOT_PARSE_DATETIME
  53, // TYPE_MISMATCH
  72, // CANNOT_PARSE_NUMBER
  117, // INCORRECT_DATA
  376, // CANNOT_PARSE_UUID
  691, // UNKNOWN_ELEMENT_OF_ENUM
]);

export type IngestLog = Pick<Logger, 'info' | 'warn' | 'error'>;

export const isUnreadable = (error: unknown): boolean => UNREADABLE.has(engineCode(error) ?? 0);

/**
 * Sends statements until the store has taken them. A failed one is in doubt (a timeout says nothing about the
 * outcome), so what is sent again must be the identical statement with the same token.
 */
export class Persistence {
  readonly #log: IngestLog;
  readonly #stop = new AbortController();
  #failingSince: number | null = null;

  constructor(log: IngestLog) {
    this.#log = log;
  }

  /** For how long the store has refused everything, in ms; 0 when it answers. */
  get failingForMs(): number {
    return this.#failingSince === null ? 0 : performance.now() - this.#failingSince;
  }

  /** Ends all waiting: what is in doubt stays in the journal, for the next start. */
  stop(): void {
    this.#stop.abort();
  }

  /** Throws only what no repetition can mend, or `store_unavailable` after `stop`. */
  async until<T>(name: string, statement: (attempt: number) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        const result = await statement(attempt);
        this.#failingSince = null;
        return result;
      } catch (error) {
        if (isUnreadable(error)) throw error;
        this.#failingSince ??= performance.now();
        const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
        this.#log.warn({ err: error, name, attempt, pauseMs }, 'ingestion: the store did not take it');
        await this.#pause(pauseMs);
      }
    }
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
