import { type RefObject, useEffect, useRef, useState } from 'react';

/** Begins to load a little before an element is seen. */
const MARGIN = '200px';

/** True while the element is in view, or nearly. */
export function useSeen<E extends Element>(): {
  readonly ref: RefObject<E | null>;
  readonly isSeen: boolean;
} {
  const ref = useRef<E>(null);
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    const { current } = ref;
    if (current === null) return;
    const observer = new IntersectionObserver(
      (entries) => setIsSeen(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: MARGIN },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return { ref, isSeen };
}
