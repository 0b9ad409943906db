import { type Clock, type EpochMs, epochMs } from '../domain/time.ts';
import type { Instant, TestClock } from './types.ts';

/** A clock that a test sets and moves on. It follows `running` until it is set. */
export class AdjustableClock implements TestClock {
  readonly #running: Clock;
  /** Null while the clock follows the other one. */
  #standsAt: number | null = null;
  #ahead = 0;

  constructor(running: Clock) {
    this.#running = running;
  }

  /** The clock in the service's form. */
  readonly read: Clock = (): EpochMs => epochMs((this.#standsAt ?? this.#running()) + this.#ahead);

  now(): Date {
    return new Date(this.read());
  }

  set(instant: Instant): void {
    this.#standsAt = msOf(instant, 'clock');
    this.#ahead = 0;
  }

  advance(ms: number): void {
    if (!Number.isSafeInteger(ms)) throw new Error(`The clock moves by whole milliseconds, not by ${ms}.`);
    this.#ahead += ms;
  }
}

/** Date.parse would take a text without an offset for local time. */
const WITH_OFFSET = /T.*(Z|[+-]\d\d:\d\d)$/;

/** Returns an instant as epoch ms. Throws an Error that names `what` for anything else. */
export function msOf(instant: Instant, what: string): number {
  const ms = typeof instant === 'string' ? textAsMs(instant) : dateAsMs(instant);
  if (Number.isNaN(ms)) {
    throw new Error(
      `${what}: ${String(instant)} is no instant. Give a Date, or a text such as 2026-11-20T12:00:00Z.`,
    );
  }
  return ms;
}

const textAsMs = (text: string): number => (WITH_OFFSET.test(text) ? Date.parse(text) : Number.NaN);

/** A Date of any realm. */
const dateAsMs = (date: unknown): number =>
  Object.prototype.toString.call(date) === '[object Date]' ? (date as Date).getTime() : Number.NaN;
