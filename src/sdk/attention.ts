import { DAY_MS, IDLE_MS } from './sessions.ts';

/** Measures the time for which the page is visible and has the focus. All times are epoch ms. */
export interface Attention {
  /** Call it at every change, and before `take`. `end`: the end of the session if nothing else happens. */
  update(looking: boolean, now: number, end: number): void;
  /** Returns the whole ms measured since the last call, and when they began. */
  take(): { readonly ms: number; readonly from: number };
}

/** Time after the end of a session does not count: the page was open, but nobody looked at it. */
export function createAttention(): Attention {
  let since = 0;
  let from = 0;
  let total = 0;
  return {
    update(looking, now, end) {
      if (since) {
        const until = Math.min(now, since > end ? since + IDLE_MS : end);
        if (!total) from = since;
        total += Math.max(0, until - since);
      }
      since = looking ? now : 0;
    },
    take() {
      const ms = Math.min(total, DAY_MS);
      total = 0;
      return { ms, from };
    },
  };
}
