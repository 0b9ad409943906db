import { MINUTE_MS } from '../domain/time.ts';
import type { BatchKey } from './batch-key.ts';

/** For this long after a refusal, more of the same app are expected. */
const SUSPICION_MS = 10 * MINUTE_MS;

interface Suspicion {
  /** By a monotonic clock. */
  readonly until: number;
  /** True if batches of other apps may be the reason. */
  readonly isUnsure: boolean;
}

/**
 * Apps with batches that the store has refused because of their content. Their batches go in flushes of their own, so that
 * no other app's batches share the next refusal. If it is unknown which app is the reason, each of them goes alone until a
 * flush of it is stored.
 */
export class Suspects {
  readonly #apps = new Map<string, Suspicion>();

  /** `isReason`: false if the reason is among these batches, and it is unknown which one. */
  add(batches: readonly BatchKey[], isReason: boolean): void {
    const now = performance.now();
    for (const [app, { until }] of this.#apps) if (until <= now) this.#apps.delete(app);
    const apps = new Set(batches.map(({ app }) => app));
    for (const app of apps) {
      const isUnsure = !isReason && apps.size > 1 && (this.#apps.get(app)?.isUnsure ?? true);
      this.#apps.set(app, { until: now + SUSPICION_MS, isUnsure });
    }
  }

  has(app: string): boolean {
    return (this.#apps.get(app)?.until ?? 0) > performance.now();
  }

  isUnsure(app: string): boolean {
    return this.has(app) && this.#apps.get(app)?.isUnsure === true;
  }

  /** Batches of these apps are stored. */
  acquit(batches: readonly BatchKey[]): void {
    for (const { app } of batches) if (this.isUnsure(app)) this.#apps.delete(app);
  }
}
