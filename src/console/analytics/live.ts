import { useEffect, useRef, useState } from 'react';
import type { ExtendedOverview, RangeParams } from '../../client/index.ts';
import { type Loaded, useLive, useVisible } from '../answers.ts';

/*
 * How the page stays current without polls, and with few connections. A browser opens six connections to a host over
 * HTTP/1.1, for all its tabs and windows together.
 *
 * - A page holds one stream: that of the extended overview, whose answer changes with nearly every event. When it
 *   brings something, the panels in view ask again, with the ETags that they have. Panels out of view ask when they
 *   come into view.
 * - A hidden tab holds none. It connects again when it is seen.
 * - At most three windows hold one at a time; further ones wait for a place. So three connections are always left for
 *   requests. The places are Web Locks, which end with their window. Without them (they need HTTPS or this machine)
 *   each window that is seen streams.
 */

const PLACES = 3;
/** Panels ask again at most this often, however many events come in. */
const PACE_MS = 2_000;

export type LiveState = 'past' | 'connecting' | 'live' | 'resting' | 'lost';

export interface Live {
  readonly state: LiveState;
  readonly overview: Loaded<ExtendedOverview>;
  /** Grows when panels should ask again. */
  readonly version: number;
}

/** Streams the overview of a range that is not over; `params` is null for one that is. */
export function useLiveOverview(params: RangeParams | null): Live {
  const isSeen = useVisible();
  const isWanted = params !== null && isSeen;
  const hasPlace = usePlace(isWanted);
  const overview = useLive('getExtendedOverview', isWanted && hasPlace ? params : null);
  const version = useVersion(overview.data);
  return { state: stateOf(params !== null, isSeen, hasPlace, overview), overview, version };
}

function stateOf(
  isOpenRange: boolean,
  isSeen: boolean,
  hasPlace: boolean,
  { data, error }: Loaded<unknown>,
): LiveState {
  if (!isOpenRange) return 'past';
  if (error !== null) return 'lost';
  if (isSeen && !hasPlace) return 'resting';
  return data === undefined ? 'connecting' : 'live';
}

/** A number that grows with each answer, at most once per pace; the last answer is never missed. */
function useVersion(data: unknown): number {
  const [version, setVersion] = useState(0);
  // The panels ask for the first time while the stream opens.
  const raisedAt = useRef(performance.now());
  useEffect(() => {
    if (data === undefined) return;
    const wait = Math.max(0, raisedAt.current + PACE_MS - performance.now());
    const timer = setTimeout(() => {
      raisedAt.current = performance.now();
      setVersion((before) => before + 1);
    }, wait);
    return () => clearTimeout(timer);
  }, [data]);
  return version;
}

/** True while this window may hold a stream. */
function usePlace(isWanted: boolean): boolean {
  const [hasPlace, setHasPlace] = useState(false);
  useEffect(() => {
    if (!isWanted) return;
    const stop = new AbortController();
    void takePlace(stop.signal, () => setHasPlace(true));
    return () => {
      stop.abort();
      setHasPlace(false);
    };
  }, [isWanted]);
  return isWanted && hasPlace;
}

const NAMES = Array.from({ length: PLACES }, (_, i) => `analytics-stream-${i}`);

/** Calls `onPlace` once there is a place, and keeps it until `signal` is aborted. */
async function takePlace(signal: AbortSignal, onPlace: () => void): Promise<void> {
  const locks = navigator.locks as LockManager | undefined;
  if (locks === undefined) {
    if (!signal.aborted) onPlace();
    return;
  }
  // Waits for all places, and takes the first that is free.
  const others = new AbortController();
  const keep = (): Promise<void> | undefined => {
    if (others.signal.aborted || signal.aborted) return undefined;
    others.abort();
    onPlace();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  };
  const either = AbortSignal.any([signal, others.signal]);
  await Promise.all(
    NAMES.map((name) => locks.request(name, { signal: either }, keep).catch(() => undefined)),
  );
}
