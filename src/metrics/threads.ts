import { readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';
/** The names of threads that belong to Node or to its libraries. All others are the engine's. */
const NODES = /^(node|libuv-worker|V8Worker|DelayedTaskSche|SignalInspector|MainThread|iou-)/;

type Samples = readonly (readonly [string, number])[];

/** The number of threads of this process. Nothing where the system does not tell. */
export const processThreads = (): Samples => samplesOf((tasks) => tasks.length);

/** The number of threads that the embedded engine has started. Nothing where the system does not tell. */
export const engineThreads = (): Samples =>
  samplesOf((tasks) => tasks.filter((task) => !NODES.test(nameOf(task))).length);

function samplesOf(count: (tasks: readonly string[]) => number): Samples {
  try {
    return [['', count(readdirSync(TASKS))]];
  } catch {
    // Another system than Linux.
    return [];
  }
}

/** A thread may have ended since it was listed. It then counts as Node's. */
function nameOf(task: string): string {
  try {
    return readFileSync(`${TASKS}/${task}/comm`, 'utf8');
  } catch {
    return 'node';
  }
}
