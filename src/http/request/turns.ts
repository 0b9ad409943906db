let next: Promise<void> | undefined;

/**
 * Resolves after this turn of the event loop. A busy process reads many requests in one turn: where each waits here, all of them
 * take one step of the way before any takes the next, and a step's code is still in the processor's caches. One by one from end
 * to end, a 304 without Redis took half as much time again.
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
