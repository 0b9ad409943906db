import { setTimeout as sleep } from 'node:timers/promises';
import { asQuestion } from '../domain/caller.ts';

/**
 * Lets the sealer wait for those who may still read facts that it is about to take away: everybody who read a
 * watermark before `quiesce` was called.
 */
export interface Readers {
  /** Runs `read` as a reader: as a question, which has a deadline. */
  reading<T>(read: () => Promise<T>): Promise<T>;
  /** Resolves when every reader that had begun is done: to true. False where `signal` ended the wait for other processes. */
  quiesce(signal?: AbortSignal): Promise<boolean>;
}

/**
 * Readers of this process are counted, until the last of their statements has ended; those of other processes cannot be, so `othersMs`
 * is waited too: the longest time that a question takes (0 where this process is alone on the store).
 */
export function createReaders(othersMs: number): Readers {
  const running = new Set<Promise<unknown>>();
  return {
    reading: (read) =>
      asQuestion((question) => {
        const done = read();
        const over = done
          .catch(() => undefined)
          .then(() => question.settled())
          .finally(() => running.delete(over));
        running.add(over);
        return done;
      }),
    async quiesce(signal) {
      const others = sleep(othersMs, undefined, signal ? { signal } : {}).catch(() => undefined);
      await Promise.all([...running, others]);
      return signal?.aborted !== true;
    },
  };
}
