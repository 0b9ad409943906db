/** A browser opens six connections to a host. The others are for the page itself. */
const AT_ONCE = 3;

const waiting: (() => void)[] = [];
let running = 0;

/** Runs work of this window's list, few at once, in turn. Work that is not wanted any more does not begin. */
export async function fewAtOnce<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => void waiting.push(resolve));
  else running += 1;
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    // The next one takes the place.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
