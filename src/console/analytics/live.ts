import { useEffect, useRef, useState } from 'react';
import type { ExtendedOverview, RangeParams } from '../../client/index.ts';
import { type Streamed, useLive, useVisible } from '../answers.ts';
import { isAnswering } from '../api.ts';
import { hasFailed, isOutage, longestWait } from './questions.ts';

/*
 * How the page stays current without polls, and with few connections. A browser opens six connections to a host over
 * HTTP/1.1, for all its tabs and windows together.
 *
 * - A page holds one stream: that of the extended overview, whose answer changes with nearly every event. When it
 *   brings something, the panels in view ask again, with the ETags that they have. Panels out of view ask when they
 *   come into view.
 * - A hidden tab holds none. It connects again when it is seen.
 * - The mark tells the truth: a page that is seen asks every few seconds whether the service answers.
 * - At most three windows hold one at a time; further ones wait for a place. So three connections are always left for
 *   requests. The places are Web Locks, which end with their window. Without them (they need HTTPS or this machine)
 *   each window that is seen streams.
 */

const PLACES = 3;
/** Panels ask again at most this often, however many events come in. */
const PACE_MS = 2_000;

/** A question that waits longer for its answer makes the figures old. */
const SLOW_MS = 3_000;
/** Within 5 s the page notices a service that is gone without a word: it asks after this pause, and waits as long. */
const PROBE_MS = 2_200;

export type LiveState = 'past' | 'connecting' | 'live' | 'resting' | 'refused' | 'reconnecting' | 'offline';

export interface Live {
  /** Whether the range can get new events. */
  readonly isOpen: boolean;
  /** Whether the overview comes by the stream. */
  readonly isStreamed: boolean;
  readonly isReachable: boolean;
  readonly overview: Streamed<ExtendedOverview>;
  /** Grows when panels should ask again. */
  readonly version: number;
}

/** Streams the overview of a range that is not over; `params` is null for one that is. */
export function useLiveOverview(params: RangeParams | null): Live {
  const isSeen = useVisible();
  const isOpen = params !== null;
  const hasPlace = usePlace(isOpen && isSeen);
  const isReachable = useReachable(isSeen);
  const isStreamed = isOpen && (hasPlace || !isSeen);
  const overview = useLive('getExtendedOverview', params, isStreamed);
  const version = useVersion(overview.data, isReachable && (overview.isConnected || !isStreamed));
  return { isOpen, isStreamed, isReachable, overview, version };
}

/** What the mark says: the state, and when the figures were last as the service had them. Null: never. */
export function useLiveMark({ isOpen, isStreamed, isReachable, overview }: Live): {
  readonly state: LiveState;
  readonly at: number | null;
} {
  const [, look] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => look((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  const at = useRef<number | null>(null);
  const isAnswered = !hasFailed() && longestWait(performance.now()) < SLOW_MS;
  const state = ((): LiveState => {
    if (!navigator.onLine || isOutage(overview.error)) return 'offline';
    if (!isReachable) return 'reconnecting';
    if (overview.error !== null) return 'refused';
    if (!isOpen) return 'past';
    if (!isStreamed) return 'resting';
    if (at.current === null && !hasFailed()) return 'connecting';
    return overview.isConnected && isAnswered ? 'live' : 'reconnecting';
  })();
  useEffect(() => {
    const isNow = isReachable && isAnswered && longestWait(performance.now()) === 0;
    if (isNow && overview.data !== undefined) at.current = Date.now();
  });
  return { state, at: at.current };
}

/** Whether the service answers at all. A connection that nobody closed does not tell. */
function useReachable(isWanted: boolean): boolean {
  const [isReachable, setIsReachable] = useState(true);
  useEffect(() => {
    if (!isWanted) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = new AbortController();
    const probe = async (): Promise<void> => {
      const answers = await isAnswering(AbortSignal.any([stop.signal, AbortSignal.timeout(PROBE_MS)]));
      if (stop.signal.aborted) return;
      setIsReachable(answers);
      timer = setTimeout(() => void probe(), PROBE_MS);
    };
    timer = setTimeout(() => void probe(), PROBE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [isWanted]);
  return isReachable;
}

/** A number that grows with each answer and with each end of an outage, at most once per pace; the last one is never missed. */
function useVersion(data: unknown, isConnected: boolean): number {
  const [version, setVersion] = useState(0);
  // The panels ask for the first time while the stream opens.
  const raisedAt = useRef(performance.now());
  const wasConnected = useRef(false);
  const isBack = useRef(false);
  useEffect(() => {
    if (!isConnected) {
      isBack.current = wasConnected.current;
      return;
    }
    wasConnected.current = true;
    if (data === undefined && !isBack.current) return;
    const wait = Math.max(0, raisedAt.current + PACE_MS - performance.now());
    const timer = setTimeout(() => {
      isBack.current = false;
      raisedAt.current = performance.now();
      setVersion((before) => before + 1);
    }, wait);
    return () => clearTimeout(timer);
  }, [data, isConnected]);
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
