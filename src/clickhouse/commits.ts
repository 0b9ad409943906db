import { LRUCache } from 'lru-cache';
import type { Commit } from '../domain/commits.ts';

/** The most bytes of commits that are remembered: of one app, and of all. */
const MOST_OF_APP = 2_000_000;
const MOST = 16_000_000;
/** The sizes of a commit's hour, of each of its sessions (which is in two hours) and of each count of a type. */
const HOUR_SIZE = 150;
const SESSION_SIZE = 110;
const TYPE_SIZE = 60;

/** An app's latest commits, in order. */
interface Remembered {
  readonly commits: { readonly position: number; readonly commit: Commit; readonly size: number }[];
  size: number;
}

/** Remembers the latest commits of this process. Of use only if this process is the only writer. */
export class Commits {
  readonly #apps = new LRUCache<string, Remembered>({ maxSize: MOST, sizeCalculation: ({ size }) => size });
  /** Tokens of commits whose last attempt failed. A repetition may find that the first attempt did all of it. */
  readonly #uncertain = new Set<string>();

  /** Notes an attempt that failed. */
  fail(token: string): void {
    this.#uncertain.add(token);
  }

  /** Notes an attempt that succeeded. `positionOf` returns the number of an app's writes that have ended. */
  add(token: string, commits: ReadonlyMap<string, Commit>, positionOf: (app: string) => number): void {
    if (this.#uncertain.delete(token)) return;
    for (const [app, commit] of commits) {
      const size = commit.hours.reduce(
        (sum, { sessions, types }) =>
          sum + HOUR_SIZE + SESSION_SIZE * sessions.length + TYPE_SIZE * types.length,
        1,
      );
      const own = this.#apps.get(app) ?? { commits: [], size: 0 };
      own.commits.push({ position: positionOf(app), commit, size });
      own.size += size;
      while (own.size > MOST_OF_APP) own.size -= own.commits.shift()?.size ?? own.size;
      this.#apps.set(app, own, { size: Math.max(own.size, 1) });
    }
  }

  /** Drops everything about an app. */
  forget(app: string): void {
    this.#apps.delete(app);
  }

  /** Returns the commits of an app after position `from` up to `to`; null if any write between was something else. */
  between(app: string, from: number, to: number): readonly Commit[] | null {
    const count = to - from;
    if (count === 0) return [];
    const found = (this.#apps.get(app)?.commits ?? []).slice(-count);
    return found.length === count && found.every(({ position }) => position > from)
      ? found.map(({ commit }) => commit)
      : null;
  }
}
