let next: Promise<void> | undefined;

/**
 * Resolves after this turn of the event loop. A busy process reads many requests in one turn: where each waits here, all of them take one
 * step of the way before any takes the next, and a step's code is still in the processor's caches. From end to end one by one, a 304
 * took a sixth more of the processor's time.
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
