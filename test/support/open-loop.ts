import { setTimeout as sleep } from 'node:timers/promises';

/** The outcome of one request of a load. */
export interface Sample<Kind extends string = string> {
  readonly kind: Kind;
  /** 0: no answer at all. */
  readonly status: number;
  readonly ms: number;
  /** Milliseconds from the start of the load to the request. */
  readonly at: number;
}

export interface Stream<Kind extends string = string> {
  readonly kind: Kind;
  readonly perSecond: number;
  /** Resolves to the status. */
  ask(): Promise<number>;
}

async function sampled<Kind extends string>(stream: Stream<Kind>, began: number): Promise<Sample<Kind>> {
  const started = performance.now();
  const status = await stream.ask().catch(() => 0);
  return { kind: stream.kind, status, ms: performance.now() - started, at: started - began };
}

/**
 * Sends requests when they are due, whether or not the earlier ones were answered: callers do not wait for
 * each other. Sends no more once the signal is aborted.
 */
export async function openLoop<Kind extends string>(
  streams: readonly Stream<Kind>[],
  ms: number,
  signal?: AbortSignal,
): Promise<Sample<Kind>[]> {
  // In the order of time, so that one wait at a time listens to the signal, however many streams there are.
  const requests = streams
    .flatMap((stream, n) => {
      // The streams begin one after the other. At once, the first request of each would be a burst.
      const first = n / streams.length;
      const count = Math.max(0, Math.ceil((ms * stream.perSecond) / 1000 - first));
      return Array.from({ length: count }, (_, i) => ({
        stream,
        due: ((i + first) * 1000) / stream.perSecond,
      }));
    })
    .sort((a, b) => a.due - b.due);
  const began = performance.now();
  const running: Promise<Sample<Kind>>[] = [];
  for (const { stream, due } of requests) {
    const wait = began + due - performance.now();
    if (wait > 1) await sleep(wait, undefined, { signal }).catch(() => undefined);
    if (signal?.aborted) break;
    running.push(sampled(stream, began));
  }
  return Promise.all(running);
}

/** Returns the answers per second for `parallel` callers; each asks again as soon as it is answered. */
export async function closedLoop(stream: Stream, parallel: number, ms: number): Promise<number> {
  const began = performance.now();
  let answered = 0;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (performance.now() - began < ms) if ((await stream.ask()) === 200) answered++;
    }),
  );
  return (answered * 1000) / (performance.now() - began);
}

/** Counts the samples of `kind` by status. */
export function statusesOf<Kind extends string>(
  samples: readonly Sample<Kind>[],
  kind: Kind,
): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of samples.filter((sample) => sample.kind === kind)) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
