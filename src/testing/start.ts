import { openService } from './in-process.ts';
import type { InProcessOptions, InProcessService } from './types.ts';

/**
 * Starts the whole service in this process on the embedded engine, on free ports of 127.0.0.1, with an empty store.
 * Several may run at once; none sees another's data. Close each of them. Needs the optional package `chdb`.
 */
export function startTestService(options: InProcessOptions = {}): Promise<InProcessService> {
  return openService(options);
}
