import { setTimeout as sleep } from 'node:timers/promises';

/** Flushes of live processes end sooner. That of a dead process is completed within two minutes. */
const LONGEST_MS = 5_000;
const LOOK_MS = 100;

/**
 * Waits until all flushes have ended that are there now, but not for those that begin later. False if one of them does
 * not end soon: it is held, or its process has died. `read`: the ids of the flushes that have not ended.
 */
export async function flushesEnd(read: () => Promise<readonly string[]>): Promise<boolean> {
  let waiting = await read();
  for (const started = performance.now(); waiting.length > 0; ) {
    if (performance.now() - started > LONGEST_MS) return false;
    await sleep(LOOK_MS);
    const left = new Set(await read());
    waiting = waiting.filter((flush) => left.has(flush));
  }
  return true;
}
