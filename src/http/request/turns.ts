let next: Promise<void> | undefined;

/**
 * Resolves after this turn of the event loop. A busy process reads many requests in one turn. If each of them
 * waits here, all take one step before any takes the next, and the step's code stays in the processor's
 * caches. Handled one by one, a 304 without Redis took half as much time again.
 */
export function nextTurn(): Promise<void> {
  next ??= new Promise((resolve) => {
    setImmediate(() => {
      next = undefined;
      resolve();
    });
  });
  return next;
}
