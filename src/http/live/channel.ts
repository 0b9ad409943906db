import { onBehalfOf } from '../../domain/caller.ts';
import type { AppId, KeyId } from '../../domain/ids.ts';
import type { Versioned } from '../answer/answers.ts';
import { type Prepared, preparedOf, type Source } from './prepared.ts';
import type { LiveStream } from './stream.ts';

/** The pause after a question that failed. */
const PAUSE_MS = 1_000;

/** A question that streams ask. */
export interface LiveQuestion {
  /** The same for equal questions of one account. */
  readonly name: string;
  /** Whose places its streams take: an account, or all links of one. */
  readonly holder: string;
  readonly app: AppId;
  /** Callers with the same key share one turn at the store. */
  readonly key: KeyId;
  /** The part of the answer that depends on the clock. The answer can change when this does. */
  window(): string;
  /** Asks for the answer that is right now. */
  ask(): Promise<Versioned>;
}

/** The streams of one question: it is asked once for all of them. */
export class Channel implements Source {
  readonly question: LiveQuestion;
  readonly streams = new Set<LiveStream>();
  readonly #gone = new AbortController();
  #latest: Versioned;
  #latestAt: number;
  #window: string;
  /** The committed events of the app when the question was asked last; undefined if that is not known. */
  #committed: number | undefined;
  #asking = false;
  #notBefore = 0;
  #prepared: { readonly of: Versioned; readonly answer: Promise<Prepared> } | undefined;

  constructor(question: LiveQuestion, first: Versioned, askedAt: number) {
    this.question = question;
    this.#latest = first;
    this.#latestAt = askedAt;
    this.#window = question.window();
  }

  get latest(): Versioned {
    return this.#latest;
  }

  /** Takes an answer that was asked for at `askedAt`, unless a newer one is known. */
  take(versioned: Versioned, askedAt: number): void {
    if (askedAt < this.#latestAt) return;
    this.#latest = versioned;
    this.#latestAt = askedAt;
  }

  /** Returns whether the answer may have changed since the question was asked. */
  isOutdated(committed: number): boolean {
    if (this.#asking || performance.now() < this.#notBefore) return false;
    return this.#committed !== committed || this.#window !== this.question.window();
  }

  /** Asks the question again. After a failure the channel stays outdated, and is asked again. */
  async ask(committed: number): Promise<void> {
    this.#asking = true;
    const askedAt = performance.now();
    const window = this.question.window();
    try {
      this.take(await this.#asCaller(() => this.question.ask()), askedAt);
      this.#committed = committed;
      this.#window = window;
    } catch {
      // The store is away or has too much to do. The streams stay open.
      this.#notBefore = performance.now() + PAUSE_MS;
    } finally {
      this.#asking = false;
    }
  }

  /**
   * Prepares the latest answer, once for all streams. If events were being stored while it was computed, its tag is not
   * that of its version: the next call computes it again, and finds that one.
   */
  prepare(versioned: Versioned): Promise<Prepared> {
    if (this.#prepared?.of !== versioned) {
      const answer = this.#asCaller(() => versioned.result()).then(preparedOf);
      this.#prepared = { of: versioned, answer };
      const drop = (): void => {
        if (this.#prepared?.answer === answer) this.#prepared = undefined;
      };
      answer.then(({ tag }) => {
        if (tag !== versioned.tag) drop();
      }, drop);
    }
    return this.#prepared.answer;
  }

  /** Forgets the bytes of an answer that every stream has sent. */
  forget(): void {
    this.#prepared = undefined;
  }

  close(): void {
    this.#gone.abort();
  }

  #asCaller<T>(work: () => Promise<T>): Promise<T> {
    return onBehalfOf({ key: this.question.key, signal: this.#gone.signal }, work);
  }
}
