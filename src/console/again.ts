import { useEffect, useRef } from 'react';
import { ApiError, isAnswering } from './api.ts';
import { keepInTab, keptInTab } from './parts/kept.ts';

const PAUSE_MS = 2_000;
/** A page that failed again so soon after it was loaded would be loaded without end. */
const LOADED_ANEW = 'console-loaded-anew';
const LEAST_BETWEEN_MS = 15_000;

/** Calls back once when the service answers. Returns a function that stops waiting. */
function whenAnswering(callback: () => void): () => void {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async (): Promise<void> => {
    const answers = await isAnswering(AbortSignal.any([stop.signal, AbortSignal.timeout(PAUSE_MS)]));
    if (stop.signal.aborted) return;
    if (answers) callback();
    else timer = setTimeout(() => void look(), PAUSE_MS);
  };
  timer = setTimeout(() => void look(), PAUSE_MS);
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}

/** True if the service, or its store, was away. */
const mayPassByItself = (error: unknown): boolean => !(error instanceof ApiError) || error.status === 503;

/** Tries again by itself when the service is back. */
export function useAgain(error: unknown, retry: (() => void) | undefined): void {
  const latest = useRef(retry);
  latest.current = retry;
  const isWaiting = error !== null && retry !== undefined && mayPassByItself(error);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another failure is waited for anew.
  useEffect(() => (isWaiting ? whenAnswering(() => latest.current?.()) : undefined), [isWaiting, error]);
}

/** True for a script or style of a page that could not be loaded. A browser does not load it again by itself. */
export const isLoadFailure = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|importing a module|preload/i.test(error.message);

/** Loads the whole page again when the service is back: the address holds everything that was chosen. */
export function loadAnewWhenBack(): () => void {
  return whenAnswering(() => {
    const wait = LEAST_BETWEEN_MS - (Date.now() - Number(keptInTab(LOADED_ANEW) ?? 0));
    setTimeout(
      () => {
        keepInTab(LOADED_ANEW, String(Date.now()));
        location.reload();
      },
      Math.max(0, wait),
    );
  });
}
