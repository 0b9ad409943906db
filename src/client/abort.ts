/** The longest time of a timer. A longer one would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

interface Followers {
  readonly works: Set<() => void>;
  readonly fire: () => void;
}
const followers = new WeakMap<AbortSignal, Followers>();

/**
 * Calls `work` when `signal` is aborted, until the returned function is called. However many calls share a signal, it
 * has one listener: Node warns at eleven. No `AbortSignal.any`: Node 20 and 22 collect one that is made of another one.
 */
export function onAbort(signal: AbortSignal, work: () => void): () => void {
  if (signal.aborted) {
    work();
    return () => undefined;
  }
  const known = followers.get(signal) ?? listenTo(signal);
  known.works.add(work);
  return () => {
    known.works.delete(work);
    if (known.works.size > 0) return;
    signal.removeEventListener('abort', known.fire);
    if (followers.get(signal) === known) followers.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Followers {
  const works = new Set<() => void>();
  const fire = (): void => {
    for (const work of [...works]) work();
  };
  signal.addEventListener('abort', fire, { once: true });
  const all = { works, fire };
  followers.set(signal, all);
  return all;
}

/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    void work.then(resolve, reject).finally(forget);
  });
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, LONGEST_MS));
  });
  return unlessAborted(waited, signal).finally(() => clearTimeout(timer));
}

/**
 * A generator that ends when `signal` is aborted, quietly, and when its reader stops: also while the reader waits for
 * the next value. `work` gets the one signal that tells it of both.
 */
export function stoppable<T>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  const stop = new AbortController();
  const quiet = async function* (): AsyncGenerator<T, void, void> {
    const forget = signal === undefined ? undefined : onAbort(signal, () => stop.abort());
    try {
      if (!stop.signal.aborted) yield* work(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      forget?.();
      stop.abort();
    }
  };
  const generator = quiet();
  const end = generator.return.bind(generator);
  generator.return = (value) => {
    stop.abort();
    return end(value);
  };
  return generator;
}
