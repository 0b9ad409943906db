import { LRUCache } from 'lru-cache';
import type { Basis } from '../analytics/scopes.ts';
import { Gate, READERS_PATIENCE } from '../clickhouse/gate.ts';
import { asQuestion, currentCaller, Shared } from '../domain/caller.ts';
import type { AccountId, AppId } from '../domain/ids.ts';
import { toIso } from '../domain/time.ts';
import type { ReadSnapshot } from '../facts/snapshots.ts';
import type { Snapshot } from '../facts/watermarks.ts';
import { codeVersion } from './code-version.ts';
import { digest } from './etag.ts';

const MAX_WAITING = 256;

/** A question as one account asks it. */
export interface Asked {
  readonly account: AccountId;
  readonly app: AppId;
  readonly operationId: string;
  /** As parsed: two spellings of one instant are one question. Never written to. */
  readonly query: object;
  readonly basis: Basis;
  compute(): Promise<unknown>;
}

/** An answer whose version is known before it is computed. */
export interface Versioned {
  /** The same tag means the same bytes. */
  readonly tag: string;
  /** When the newest event of the app was stored. */
  readonly asOf: string | null;
  /** Computes, or takes what was computed for this version. */
  result(): Promise<Computed>;
}

export interface Computed {
  /** Other than that of the question where the data changed while it was computed. */
  readonly tag: string;
  readonly json: Buffer;
}

export interface AnswersOptions {
  /**
   * Questions that are computed at once, each of several statements. Who is let in is answered: refusing half of a question
   * would waste the other half.
   */
  readonly questionsAtOnce: number;
  /** What all kept answers may take. */
  readonly answerCacheBytes: number;
}

/**
 * Answers kept by the data's own version: known before any heavy question is asked, and another as soon as an event that
 * matters is stored. Identical questions at one moment are computed once. Nothing is shared between accounts.
 */
export class Answers {
  readonly #snapshot: ReadSnapshot;
  readonly #code = codeVersion();
  readonly #kept: LRUCache<string, Computed>;
  readonly #gate: Gate;
  readonly #running = new Map<string, Shared<Computed>>();
  /** By query: pollers ask with the same one, and mostly nothing has changed. */
  readonly #tags = new WeakMap<object, { readonly rest: string; readonly tag: string }>();

  constructor(
    snapshot: ReadSnapshot,
    { questionsAtOnce: atOnce, answerCacheBytes: maxSize }: AnswersOptions,
  ) {
    this.#snapshot = snapshot;
    this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ json }) => json.length + 1_000 });
    this.#gate = new Gate({ places: atOnce, maxWaiting: MAX_WAITING, ...READERS_PATIENCE });
  }

  async ask(asked: Asked): Promise<Versioned> {
    const { asOf, version } = await this.#snapshot(asked.app, asked.basis.scope);
    const tag = this.#tagOf(asked, version);
    return { tag, asOf: asOf === null ? null : toIso(asOf), result: () => this.#result(asked, tag) };
  }

  #tagOf({ account, operationId, query, basis }: Asked, [events, sessions]: Snapshot['version']): string {
    const rest = `${account} ${operationId} ${basis.window} ${events} ${sessions}`;
    const last = this.#tags.get(query);
    if (last?.rest === rest) return last.tag;
    const tag = digest(JSON.stringify([this.#code, query, rest]));
    this.#tags.set(query, { rest, tag });
    return tag;
  }

  #result(asked: Asked, tag: string): Promise<Computed> {
    const kept = this.#kept.get(tag);
    if (kept !== undefined) return Promise.resolve(kept);
    const running = this.#running.get(tag);
    if (running !== undefined && !running.isAbandoned) return running.join();
    const computing = new Shared(() =>
      this.#compute(asked, tag).finally(() => {
        if (this.#running.get(tag) === computing) this.#running.delete(tag);
      }),
    );
    this.#running.set(tag, computing);
    return computing.join();
  }

  /** From here on its time runs. */
  #computed({ compute }: Asked): Promise<unknown> {
    return asQuestion(async (question) => {
      const place = await this.#gate.enter(currentCaller());
      try {
        return await compute();
      } finally {
        // What an embedded engine still computes for it takes the place of another.
        void question.settled().then(() => this.#gate.leave(place));
      }
    });
  }

  /** What came in meanwhile may be in the answer or not: such a one is tagged by its bytes and not kept. */
  async #compute(asked: Asked, tag: string): Promise<Computed> {
    const value = await this.#computed(asked);
    const json = Buffer.from(JSON.stringify(value));
    const { version } = await this.#snapshot(asked.app, asked.basis.scope);
    if (this.#tagOf(asked, version) !== tag) return { tag: digest(json), json };
    const computed = { tag, json };
    this.#kept.set(tag, computed);
    return computed;
  }
}
