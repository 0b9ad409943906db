import type { Commit } from '../domain/commits.ts';
import { Commits } from './commits.ts';
import { Underway } from './underway.ts';
import { Writes } from './writes.ts';

/** What an insert changes, as the caller says. */
export interface Written {
  readonly token?: string;
  /** The apps whose answers the insert changes. If absent: all apps for `ledger`, none for other tables. */
  readonly about?: readonly string[];
  /** What the insert commits of the apps in `about`, if it does nothing else. Needs a token. */
  readonly commits?: ReadonlyMap<string, Commit>;
}

/** The inserts of this process, by app. Only useful if this process is the only writer. */
export class OwnWrites {
  readonly #all = new Writes();
  /** Those among them that are not new events. */
  readonly #changes = new Writes();
  readonly #commits = new Commits();
  /** The flushes that are not committed yet. */
  readonly underway = new Underway();

  /** Begins an insert. Call the result when it has ended; `isDone`: it did not fail. */
  begin(table: string, { token = '', about, commits }: Written): (isDone: boolean) => void {
    const isOfEvents = table === 'ledger';
    const ended = this.#all.begin(about ?? (isOfEvents ? undefined : []));
    const changed = this.#changes.begin(isOfEvents ? [] : (about ?? []));
    return (isDone) => {
      ended();
      changed();
      if (commits === undefined) return;
      if (isDone) this.#commits.add(token, commits, (app) => this.position(app));
      else this.#commits.fail(token);
    };
  }

  /** A number that changes with every insert about the app. Null during one. */
  stamp(app: string): number | null {
    return this.#all.stamp(app);
  }

  /** The same number. Null while an event of the app may be visible that is not committed. */
  settled(app: string): number | null {
    return this.underway.touches(app) ? null : this.stamp(app);
  }

  /** The same for everything but new events. */
  stampOfChanges(app: string): number | null {
    return this.#changes.stamp(app);
  }

  /** The number of inserts about the app that have ended, also during one. */
  position(app: string): number {
    return this.#all.position(app);
  }

  /**
   * Returns what was committed after `position`; null if it is not known, or if anything else was inserted. Null during an
   * insert, too: a statement may have seen it already.
   */
  commitsSince(app: string, position: number): readonly Commit[] | null {
    const now = this.stamp(app);
    return now === null ? null : this.#commits.between(app, position, now);
  }

  /** Drops what is remembered of the app's commits. */
  forgetCommits(app: string): void {
    this.#commits.forget(app);
  }
}
