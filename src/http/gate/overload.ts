import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { RequestHandler } from 'express';
import { AppError } from '../../domain/errors.ts';

const WINDOW_MS = 1_000;
/** The mean delay over a window. One long pause is only a few of a window's samples. */
const TOO_LATE_MS = 250;
/** A single late window is chance: a large body, a garbage collection, a busy machine. */
const WINDOWS_IN_A_ROW = 2;

export interface Overload {
  /** True while this process falls behind its own work. */
  readonly isOverloaded: boolean;
  close(): void;
}

/** Measures the event loop's delay: it grows if this process has too much to do. */
export function watchOverload(): Overload {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let lateWindows = 0;
  const timer = setInterval(() => {
    lateWindows = delay.mean / 1e6 > TOO_LATE_MS ? lateWindows + 1 : 0;
    delay.reset();
  }, WINDOW_MS);
  timer.unref();
  return {
    get isOverloaded() {
      return lateWindows >= WINDOWS_IN_A_ROW;
    },
    close: () => {
      clearInterval(timer);
      delay.disable();
    },
  };
}

/**
 * Refuses a request at the start if this process is overloaded, so that requests which have begun are
 * answered. Throws `overloaded`.
 */
export function refuseIfOverloaded({ isOverloaded }: Overload): void {
  if (!isOverloaded) return;
  throw new AppError('overloaded', 'This process has too much to do. Try again shortly.', {
    retryAfterSeconds: 1,
  });
}

export const shed =
  (overload: Overload): RequestHandler =>
  (_req, _res, next) => {
    refuseIfOverloaded(overload);
    next();
  };
