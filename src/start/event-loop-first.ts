import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** The threads of this process, on Linux. */
const TASKS = '/proc/self/task';
/** Of a core that both want, another thread gets a tenth of the event loop's share. */
const STEPS = 10;
const LAST = 19;

/**
 * Lets the event loop's thread run before all other threads of this process. Call it when the embedded engine is open:
 * its threads compute for tens of milliseconds on every core, and requests that need no computing would wait for
 * them. Threads that start later inherit the priority of the thread that starts them, which is one of the engine's. The
 * event loop takes one core at most; the engine has the others. Only Linux has priorities of threads.
 */
export function putEventLoopFirst(): void {
  const behind = Math.min(LAST, getPriority() + STEPS);
  for (const task of tasksOfProcess().filter((each) => each !== process.pid)) {
    try {
      setPriority(task, behind);
    } catch {
      // The thread has ended.
    }
  }
}

function tasksOfProcess(): number[] {
  try {
    return readdirSync(TASKS).map(Number);
  } catch {
    return [];
  }
}
