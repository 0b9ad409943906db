/** Rejects with AppError `store_unavailable` if the lock may have another holder by now. */
export type AssertHeld = () => Promise<void>;

/**
 * Mutual exclusion by name. ClickHouse has no unique constraint, so the store cannot claim a name by itself.
 */
export interface Locks {
  /**
   * Runs `work` while nobody else holds `name`, first come first served. Not reentrant: `work` must not ask
   * for the same name. Rejects with the error of `work`, and releases the name either way. `patienceMs`: how long
   * it waits for a holder in another process; some seconds by default.
   *
   * A lock between processes can be lost: Redis may lose its keys, or this process may stop for longer than the lock
   * lives. Work of several statements calls `assertHeld` before each one that would do harm then.
   */
  withLock<T>(name: string, work: (assertHeld: AssertHeld) => Promise<T>, patienceMs?: number): Promise<T>;
}

/** Locks for a process that is alone on its store. */
export function inProcessLocks(): Locks {
  const tails = new Map<string, Promise<void>>();
  return {
    async withLock(name, work) {
      const before = tails.get(name);
      let release = (): void => undefined;
      const tail = new Promise<void>((resolve) => {
        release = resolve;
      });
      tails.set(name, tail);
      try {
        await before;
        // Nobody else can hold it.
        return await work(async () => undefined);
      } finally {
        release();
        if (tails.get(name) === tail) tails.delete(name);
      }
    },
  };
}
