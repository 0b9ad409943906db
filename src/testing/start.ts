import type { InProcessOptions, InProcessService } from './types.ts';

/**
 * Starts the whole service in this process on the embedded engine, on free ports of 127.0.0.1, with an empty store.
 * Several may run at once; none sees another's data. Close each of them. Needs the optional package `chdb`.
 */
export async function startTestService(options: InProcessOptions = {}): Promise<InProcessService> {
  // Loaded late: an old Node cannot load the service, not even to say so.
  const { openService } = await import('./in-process.ts');
  return openService(options);
}
