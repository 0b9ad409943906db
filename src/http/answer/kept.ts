import { LRUCache } from 'lru-cache';
import type { AppId } from '../../domain/ids.ts';
import type { Bodies, Body } from '../forms/bodies.ts';

/** The data of an answer that both 200 and 304 need. */
export interface Held {
  /** The same tag means the same bytes. */
  readonly tag: string;
  /** The time at which the app's newest event was stored. */
  readonly asOf: string | null;
  /** For how many seconds the answer may have been outdated; null if the caller takes no outdated answer. */
  readonly age: number | null;
}

/** A computed answer. It differs from the question's version if its tag does. */
export interface Computed extends Held {
  readonly json: Body;
}

/** An answer that was right at `at`: an instant of this process. */
export interface Kept extends Omit<Computed, 'age'> {
  readonly app: AppId;
  readonly at: number;
}

interface Entry extends Kept {
  /** The share of a caller's limit at which the answer is renewed. */
  readonly renewedAt: number;
}

/** The share is random, so that answers computed together are not renewed together. */
const RENEWED_FROM = 0.5;
const RENEWED_UNTIL = 0.9;
const renewalShare = (): number => RENEWED_FROM + Math.random() * (RENEWED_UNTIL - RENEWED_FROM);

/** The newest answer to each question, by the question's name. The least recently used ones go first. */
export class KeptAnswers {
  readonly #kept: LRUCache<string, Entry>;
  readonly #bodies: Bodies;

  /** `maxSize`: bytes of memory that all answers take. */
  constructor(maxSize: number, bodies: Bodies) {
    this.#bodies = bodies;
    this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ json }) => json.memoryBytes + 1_000 });
  }

  /** Returns the answer that is right under this tag. */
  right(question: string, tag: string): Kept | null {
    const kept = this.#kept.get(question);
    return kept?.tag === tag && !kept.json.isGone ? kept : null;
  }

  /** Returns the answer if it was right at most `maxStaleMs` ago. Null: only one that is right now would do. */
  recent(question: string, maxStaleMs: number | null): Computed | null {
    const kept = maxStaleMs === null ? undefined : this.#kept.get(question);
    if (kept === undefined || kept.json.isGone || performance.now() - kept.at > (maxStaleMs ?? 0))
      return null;
    return computedOf(kept, maxStaleMs);
  }

  /** Whether the answer is so old that it should be renewed, for a caller with this limit. */
  isDue(question: string, maxStaleMs: number): boolean {
    const kept = this.#kept.peek(question);
    return kept !== undefined && performance.now() - kept.at >= kept.renewedAt * maxStaleMs;
  }

  /** Notes that the answer is right at a later instant, if it has this tag. */
  confirm(question: string, { tag, asOf, at }: Pick<Kept, 'tag' | 'asOf' | 'at'>): void {
    const kept = this.#kept.peek(question);
    if (kept?.tag !== tag || at <= kept.at) return;
    this.#kept.set(question, { ...kept, asOf, at, renewedAt: renewalShare() });
  }

  /** Keeps an answer, unless a newer one is there. */
  keep(question: string, kept: Kept): void {
    if ((this.#kept.peek(question)?.at ?? 0) > kept.at) return;
    this.#kept.set(question, { ...kept, renewedAt: renewalShare() });
  }

  /** Drops the answers about an app. */
  forget(app: AppId): void {
    for (const [question, kept] of this.#kept.entries()) {
      if (kept.app !== app) continue;
      this.#bodies.drop(kept.json);
      this.#kept.delete(question);
    }
  }
}

/** An answer as a caller gets it. */
export const computedOf = (
  { tag, json, asOf, at }: Omit<Kept, 'app'>,
  maxStaleMs: number | null,
): Computed => ({ tag, json, asOf, age: ageOf(at, maxStaleMs) });

/** The age of an answer in whole seconds; null for a caller who takes no outdated one. */
export const ageOf = (at: number, maxStaleMs: number | null): number | null =>
  maxStaleMs === null ? null : Math.floor((performance.now() - at) / 1_000);
