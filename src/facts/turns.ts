import { HOUR_MS, MINUTE_MS } from '../domain/time.ts';

/** After a repair, an app waits this many times the repair's duration for the next one. */
const REST = 10;
/** From this many late events on, a repair does not wait. */
const MANY_LATE = 1_000;
/** The longest pause of an app that cannot be sealed, for example because not all tables have a held batch's rows. */
const LONGEST_PAUSE_MS = HOUR_MS;

/** Attempts to seal the next hours of an app. While its step stays the same, all of them have failed. */
interface Attempts {
  readonly step: number;
  readonly count: number;
  /** When the next attempt is due (ms of `performance.now`). */
  readonly next: number;
}

/** When each app has its turn to be sealed. A process carries it over from one pass to the next. Keys: kind and app. */
export class Turns {
  /** When an app may be repaired again (ms of `performance.now`). */
  readonly #rests = new Map<string, number>();
  /** Since when an app has late events that wait. */
  readonly #lateSince = new Map<string, number>();
  readonly #attempts = new Map<string, Attempts>();

  /** Forgets notes without further effect. `open`: the apps with something to seal; `late`: those with late events. */
  endPass(open: ReadonlySet<string>, late: ReadonlySet<string>): void {
    const now = performance.now();
    for (const [key, until] of this.#rests) if (until < now) this.#rests.delete(key);
    for (const key of this.#lateSince.keys()) if (!late.has(key)) this.#lateSince.delete(key);
    for (const key of this.#attempts.keys()) if (!open.has(key)) this.#attempts.delete(key);
  }

  /** Tells whether an app with late events is repaired now. They wait, so that one repair covers many. */
  mayRepair(key: string, late: number, repairAfterMs: number): boolean {
    const now = performance.now();
    const since = this.#lateSince.get(key) ?? now;
    this.#lateSince.set(key, since);
    if (late < MANY_LATE && now - since < repairAfterMs) return false;
    // One repair in a pass: events that come late meanwhile wait for the next one.
    if ((this.#rests.get(key) ?? 0) > now) return false;
    this.#lateSince.delete(key);
    return true;
  }

  /** Lets the app rest after a repair that began at `started`. */
  repaired(key: string, started: number): void {
    const ended = performance.now();
    this.#rests.set(key, ended + REST * (ended - started));
  }

  /** Tells whether the next hours may be tried now. */
  isDue(key: string, step: number): boolean {
    return (this.#at(key, step)?.next ?? 0) <= performance.now();
  }

  /** Returns how often the next hours were tried in vain. */
  triesOf(key: string, step: number): number {
    return this.#at(key, step)?.count ?? 0;
  }

  /** Notes an attempt at the app's next step. Unless it was the first one, the next one is due later, each time more. */
  attempted(key: string, step: number): void {
    const count = (this.#at(key, step)?.count ?? 0) + 1;
    const pause = count === 1 ? 0 : Math.min(MINUTE_MS * 2 ** (count - 2), LONGEST_PAUSE_MS);
    this.#attempts.set(key, { step, count, next: performance.now() + pause });
  }

  /** Returns the attempts at this step. */
  #at(key: string, step: number): Attempts | undefined {
    const attempts = this.#attempts.get(key);
    return attempts?.step === step ? attempts : undefined;
  }
}
