import type { ChildProcess } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Kills a detached child when this process ends, also by a signal that nobody else here handles. Returns a function that
 * leaves the child alone from then on.
 */
export function endTogether(child: ChildProcess): () => void {
  const kill = (): void => void child.kill('SIGKILL');
  const end = (signal: NodeJS.Signals): void => {
    const others = process.listeners(signal).filter((listener) => !ENDING.has(listener));
    if (others.length > 0) return;
    kill();
    // The listener is gone, so the signal ends this process.
    leave();
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

const ENDING = new Set<NodeJS.SignalsListener>();
