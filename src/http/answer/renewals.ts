import { forOthersToo } from '../../domain/caller.ts';

/**
 * For each so many questions that may be computed at once, one answer is renewed in the background: two on the embedded
 * store. One alone does not keep up with many pollers while events come in: answers become too old, and callers wait.
 */
const QUESTIONS_PER_RENEWAL = 3;

/** Renews cached answers in the background, before a caller has to wait for them. */
export class Renewals {
  readonly #atOnce: number;
  readonly #underWay = new Set<string>();

  constructor(questionsAtOnce: number) {
    this.#atOnce = Math.max(1, Math.floor(questionsAtOnce / QUESTIONS_PER_RENEWAL));
  }

  /** Begins to renew the answer to this question. If that fails or finds no place, the next poll tries again. */
  begin(question: string, renew: () => Promise<unknown>): void {
    if (this.#underWay.size >= this.#atOnce || this.#underWay.has(question)) return;
    this.#underWay.add(question);
    void forOthersToo(renew)
      .catch(() => undefined)
      .finally(() => this.#underWay.delete(question));
  }
}
