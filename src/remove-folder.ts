import { rmSync } from 'node:fs';

const MOST_TRIES = 13;
/** The first pause; each one is longer by as much. All of them take 4 s. */
const PAUSE_MS = 50;

/**
 * Removes a folder with all that it holds; none is fine. The engine may still write into it for a moment after it was
 * closed, so this is tried for some seconds. (The retries of `rmSync` do not remove files that came in after it looked.)
 */
export function removeFolder(path: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === MOST_TRIES) throw error;
      pause(attempt * PAUSE_MS);
    }
  }
}

/** Waits without the event loop, because folders are also removed while the process exits. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
