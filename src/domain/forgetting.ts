import type { AppId } from './ids.ts';

/** Tells the caches of this process which app's data were erased. */
export class Forgetting {
  readonly #caches: ((app: AppId) => void)[] = [];

  /** `forget` drops everything that a cache holds of an app. It may be called more than once for the same app. */
  add(forget: (app: AppId) => void): void {
    this.#caches.push(forget);
  }

  readonly forget = (app: AppId): void => {
    for (const forget of this.#caches) forget(app);
  };
}
