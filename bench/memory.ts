const EVERY_MS = 20;

/** Runs `work` and samples the process's resident memory meanwhile. Returns the peak in bytes. */
export async function watchingMemory<T>(work: () => Promise<T>): Promise<{ result: T; peakBytes: number }> {
  let peakBytes = process.memoryUsage.rss();
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, EVERY_MS);
  try {
    const result = await work();
    return { result, peakBytes };
  } finally {
    clearInterval(timer);
  }
}
