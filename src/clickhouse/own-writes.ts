import type { Commit } from '../domain/commits.ts';
import { Commits } from './commits.ts';
import { Underway } from './underway.ts';
import { Writes } from './writes.ts';

/** The changes of an insert, as the caller says. */
export interface Written {
  readonly token?: string;
  /** The apps whose answers the insert changes. If absent: all apps for `ledger`, none for other tables. */
  readonly about?: readonly string[];
  /** The commits of the insert to the apps in `about`, if it does nothing else. Needs a token. */
  readonly commits?: ReadonlyMap<string, Commit>;
}

/**
 * The inserts of this process, by app. The *position* of an app is the number of inserts about it that have ended: a reader
 * that notes it can later ask for the commits since. If other processes write, too, these are only some of the inserts, so
 * every answer about them is null.
 */
export class OwnWrites {
  /** True if this process is the only writer. */
  readonly #areAll: boolean;
  readonly #all = new Writes();
  /** Those among them that are not new events. */
  readonly #changes = new Writes();
  readonly #commits = new Commits();
  /** The events that this process is storing. */
  readonly underway = new Underway();

  constructor(areAll: boolean) {
    this.#areAll = areAll;
  }

  /** Begins an insert. Call the result when it has ended; `isDone`: it did not fail. */
  begin(table: string, { token = '', about, commits }: Written): (isDone: boolean) => void {
    const isOfEvents = table === 'ledger';
    const ended = this.#all.begin(about ?? (isOfEvents ? undefined : []));
    const changed = this.#changes.begin(isOfEvents ? [] : (about ?? []));
    return (isDone) => {
      ended();
      changed();
      if (commits === undefined) return;
      if (isDone) this.#commits.add(token, commits, (app) => this.#all.position(app));
      else this.#commits.fail(token);
    };
  }

  /**
   * A number that changes with every insert about the app: an earlier read still holds if the number is the same. Null
   * during an insert.
   */
  stamp(app: string): number | null {
    return this.#areAll ? this.#all.stamp(app) : null;
  }

  /** The same for everything but new events. */
  stampOfChanges(app: string): number | null {
    return this.#areAll ? this.#changes.stamp(app) : null;
  }

  /**
   * The position, if all events of the app that are visible are committed; else null. A statement has seen exactly the
   * commits up to there if the position is the same before and after it.
   */
  settledPosition(app: string): number | null {
    return this.underway.touches(app) ? null : this.stamp(app);
  }

  /** Returns the position of the app, also during an insert. */
  position(app: string): number | null {
    return this.#areAll ? this.#all.position(app) : null;
  }

  /**
   * Returns the commits after `position`; null if they are not known, or if anything else was inserted. Null during an
   * insert, too: a statement may have seen it already.
   */
  commitsSince(app: string, position: number | null): readonly Commit[] | null {
    return this.stamp(app) === null ? null : this.endedSince(app, position);
  }

  /**
   * Returns them also during an insert, without those of that insert. Only for values that follow from commits alone: a
   * statement may have seen the insert.
   */
  endedSince(app: string, position: number | null): readonly Commit[] | null {
    const now = this.position(app);
    return now === null || position === null ? null : this.#commits.between(app, position, now);
  }

  /** Drops the commits of the app from memory. */
  forgetCommits(app: string): void {
    this.#commits.forget(app);
  }
}
