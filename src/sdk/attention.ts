import { DAY_MS, IDLE_MS } from './sessions.ts';

/** Measures the time for which the page is visible and has the focus. All times are epoch ms. */
export interface Attention {
  /** At every change, and before `take`. `end`: when the session is over unless something happens. */
  update(looking: boolean, now: number, end: number): void;
  /** What was measured since the last call, whole ms, and when that began. */
  take(): { readonly ms: number; readonly from: number };
}

/** Time after the end of a session is nobody's: the page was left open, not looked at. */
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
