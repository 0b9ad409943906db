import type { ChildProcess } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** All listeners of this file. */
const ENDING = new Set<NodeJS.SignalsListener>();

/**
 * Kills the child when this process ends, also by a signal that nobody else here handles. Returns a function that leaves
 * the child alone from then on.
 */
export function endTogether(child: ChildProcess): () => void {
  const kill = (): void => void child.kill('SIGKILL');
  const end = (signal: NodeJS.Signals): void => {
    const others = process.listeners(signal).filter((listener) => !ENDING.has(listener));
    if (others.length > 0) return;
    kill();
    leave();
    // No listener is left, so the signal ends this process.
    process.kill(process.pid, signal);
  };
  const leave = (): void => {
    ENDING.delete(end);
    process.off('exit', kill);
    for (const signal of SIGNALS) process.off(signal, end);
  };
  ENDING.add(end);
  process.once('exit', kill);
  for (const signal of SIGNALS) process.on(signal, end);
  return leave;
}
