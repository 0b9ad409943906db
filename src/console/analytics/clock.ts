import { useEffect, useState } from 'react';

/** The longest delay that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1;

/** The present time. It moves on when `next` is reached, and when the page is seen again. */
export function useNow(nextOf: (now: number) => number | null): number {
  const [now, setNow] = useState(() => Date.now());
  const next = nextOf(now);
  useEffect(() => {
    const look = (): void => setNow(Date.now());
    const onSeen = (): void => {
      // A machine that slept has missed the timer.
      if (!document.hidden && next !== null && Date.now() >= next) look();
    };
    document.addEventListener('visibilitychange', onSeen);
    const timer =
      next === null ? undefined : setTimeout(look, Math.min(LONGEST_MS, Math.max(0, next - Date.now()) + 1));
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onSeen);
    };
  }, [next]);
  return now;
}
