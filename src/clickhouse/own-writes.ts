import { Underway } from './underway.ts';
import { Writes } from './writes.ts';

/** The changes of an insert, as the caller says. */
export interface Written {
  /** The apps whose answers the insert changes. If absent: all apps for `ledger`, none for other tables. */
  readonly about?: readonly string[];
}

/** The inserts of this process, by app. If other processes write, too, they are only some of the inserts. */
export class OwnWrites {
  /** True if this process is the only writer: then it knows the times of all events that are being stored. */
  readonly areAll: boolean;
  readonly #all = new Writes();
  /** The events that this process is storing. */
  readonly underway = new Underway();

  constructor(areAll: boolean) {
    this.areAll = areAll;
  }

  /** Begins an insert. Call the result when it has ended, also after a failure. */
  begin(table: string, { about }: Written): () => void {
    return this.#all.begin(about ?? (table === 'ledger' ? undefined : []));
  }

  /**
   * A number that changes with every insert about the app: an earlier read still holds if the number is the same. Null
   * during an insert, and if this process is not the only writer.
   */
  stamp(app: string): number | null {
    return this.areAll ? this.#all.stamp(app) : null;
  }
}
