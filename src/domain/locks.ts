/**
 * Mutual exclusion by name. ClickHouse has no unique constraint, so the store cannot claim a name by itself.
 */
export interface Locks {
  /**
   * Runs `work` while nobody else holds `name`, first come first served. Not reentrant: `work` must not ask
   * for the same name. Rejects with the error of `work`, and releases the name either way. `patienceMs`: how long
   * it waits for a holder in another process; some seconds by default.
   */
  withLock<T>(name: string, work: () => Promise<T>, patienceMs?: number): Promise<T>;
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
        return await work();
      } finally {
        release();
        if (tails.get(name) === tail) tails.delete(name);
      }
    },
  };
}
