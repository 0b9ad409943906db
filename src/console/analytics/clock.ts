import { useEffect, useState } from 'react';
import { MINUTE_MS } from './view/zone.ts';

/** The present minute. It moves on by itself, and at once when a page is seen again after a machine slept. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const look = (): void => setNow(Date.now());
    const timer = setTimeout(look, MINUTE_MS - (now % MINUTE_MS) + 1);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [now]);
  return now;
}
