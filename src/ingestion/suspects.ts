import { MINUTE_MS } from '../domain/time.ts';
import type { BatchKey } from './batch-key.ts';

/** For this long after a refusal, more of the same app are expected. */
const SUSPICION_MS = 10 * MINUTE_MS;

/**
 * Apps with batches that the store has refused because of their content. Their batches go in flushes of their own, so that
 * no other app's batches share the next refusal.
 */
export class Suspects {
  /** By a monotonic clock. */
  readonly #until = new Map<string, number>();

  add(batches: readonly BatchKey[]): void {
    const now = performance.now();
    for (const [app, until] of this.#until) if (until <= now) this.#until.delete(app);
    for (const { app } of batches) this.#until.set(app, now + SUSPICION_MS);
  }

  has(app: string): boolean {
    return (this.#until.get(app) ?? 0) > performance.now();
  }
}
