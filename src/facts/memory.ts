import { LiveCache } from './live-sessions.ts';
import { SealedCache } from './sealed-cache.ts';

/** Memory for questions, about `bytes` in all: three quarters for what is sealed, the rest for sessions that are not. 0: none. */
export function factsMemory(bytes: number): { readonly sealed: SealedCache; readonly live: LiveCache } {
  const liveBytes = Math.floor(bytes / 4);
  return { sealed: new SealedCache(bytes - liveBytes), live: new LiveCache(liveBytes) };
}
