import { LiveCache } from './live-sessions.ts';
import { SealedCache } from './sealed-cache.ts';

/**
 * Creates the caches, of about `bytes` in all: three quarters for sealed facts, one quarter for unsealed
 * sessions. 0 turns them off.
 */
export function factsMemory(bytes: number): { readonly sealed: SealedCache; readonly live: LiveCache } {
  const liveBytes = Math.floor(bytes / 4);
  return { sealed: new SealedCache(bytes - liveBytes), live: new LiveCache(liveBytes) };
}
