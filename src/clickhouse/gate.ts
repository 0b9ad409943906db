import { AppError } from '../domain/errors.ts';

/** Limits on a visitor's wait. */
export interface Patience {
  readonly maxWaitMs: number;
  /**
   * Limits for a lasting queue. A key whose queue has not been empty for longer than `standsMs` asks for more
   * than it is served: its new visitors wait at most `maxWaitMs` until the queue is empty once. If absent,
   * they wait like the others.
   */
  readonly lasting?: { readonly standsMs: number; readonly maxWaitMs: number };
}

/**
 * Readers wait through a burst. A queue that never empties only delays every answer; it serves no more of
 * them. The two limits are those of "controlled delay" as described in "Fail at Scale" (ACM Queue 13/8,
 * 2015).
 */
export const READERS_PATIENCE: Patience = {
  maxWaitMs: 20_000,
  lasting: { standsMs: 10_000, maxWaitMs: 2_000 },
};

export interface GateLimits extends Patience {
  /** The number of statements that run at once. */
  readonly places: number;
  readonly maxWaiting: number;
}

/** A request for a place. */
export interface Visitor {
  /** Keys share the places fairly. Absent for the service itself, which may take every place. */
  readonly key?: string;
  /** Leaves the queue when aborted. */
  readonly signal?: AbortSignal;
  /**
   * Waits until `signal` aborts, regardless of the queue's length. Refusing a statement of a question that
   * has begun would waste the statements before it.
   */
  readonly isLetIn?: boolean;
}

/** The weight of the latest visit in the moving mean. */
const LATEST = 1 / 8;
const MOST_RETRY_SECONDS = 10;

/**
 * Numbered places with a bounded queue. It limits the statements that run at once, and is fair between keys,
 * however many statements each key sends:
 *
 * - the queue is served key by key, in turn;
 * - a key that runs a statement leaves the last free place to other keys;
 * - if the queue is full, the key with the most waiting visitors loses its newest.
 *
 * A visitor is refused at once if the expected wait exceeds the limit.
 */
export class Gate {
  readonly #limits: GateLimits;
  readonly #free: number[];
  /** Queues by key, in the order of their turns. */
  readonly #queues = new Map<string | undefined, Queue>();
  #waiting = 0;
  /** The holder of each place. */
  readonly #holders = new Map<number, Holder>();
  /** The mean duration of a visit; 0 before the first has ended. */
  #meanMs = 0;

  constructor(limits: GateLimits) {
    this.#limits = limits;
    this.#free = Array.from({ length: limits.places }, (_, place) => limits.places - 1 - place);
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves to a place; give it back with `leave`. Throws `overloaded` if the wait would be too long or the
   * visitor has gone.
   */
  async enter({ key, signal, isLetIn = false }: Visitor = {}): Promise<number> {
    if (signal?.aborted) throw gone();
    if (!this.#queues.has(key) && this.#mayEnter(key)) return this.#take(key);
    const waitMs = isLetIn ? null : this.#patienceWith(key);
    if (this.#waiting >= this.#limits.maxWaiting) this.#makeRoomFor(key);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { key, resolve, reject, end: () => undefined };
      const giveUp = (error: () => AppError) => () => {
        this.#remove(waiter);
        reject(error());
      };
      const refuse = giveUp(() => this.#overloaded(key));
      const timer = waitMs === null ? undefined : setTimeout(refuse, waitMs);
      const leave = giveUp(gone);
      signal?.addEventListener('abort', leave, { once: true });
      waiter.end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      this.#waiting++;
      const queue = this.#queues.get(key);
      if (queue === undefined) this.#queues.set(key, { since: performance.now(), waiters: [waiter] });
      else queue.waiters.push(waiter);
    });
  }

  leave(place: number): void {
    const holder = this.#holders.get(place);
    if (holder !== undefined) this.#measure(performance.now() - holder.since);
    this.#holders.delete(place);
    this.#free.push(place);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      next.resolve(this.#take(next.key));
    }
  }

  #measure(ms: number): void {
    this.#meanMs = this.#meanMs === 0 ? ms : this.#meanMs + (ms - this.#meanMs) * LATEST;
  }

  /** The longest that a new visitor may wait. Throws if its expected wait is longer. */
  #patienceWith(key: string | undefined): number {
    const { maxWaitMs, lasting } = this.#limits;
    const since = this.#queues.get(key)?.since ?? performance.now();
    const isLasting = lasting !== undefined && performance.now() - since > lasting.standsMs;
    const waitMs = isLasting ? lasting.maxWaitMs : maxWaitMs;
    if (this.#expectedMs(key) > waitMs) throw this.#overloaded(key);
    return waitMs;
  }

  /**
   * The expected wait of a new visitor. All of its own key's queue is served before it, and as many visitors
   * of each other key.
   */
  #expectedMs(key: string | undefined): number {
    const own = this.#queues.get(key)?.waiters.length ?? 0;
    let before = own;
    for (const [other, { waiters }] of this.#queues) {
      if (other !== key) before += Math.min(waiters.length, own + 1);
    }
    return (before * this.#meanMs) / this.#limits.places;
  }

  #overloaded(key: string | undefined): AppError {
    const seconds = Math.ceil(this.#expectedMs(key) / 1000);
    return new AppError('overloaded', 'Too many questions at once. Try again shortly.', {
      retryAfterSeconds: Math.min(Math.max(seconds, 1), MOST_RETRY_SECONDS),
    });
  }

  #take(key: string | undefined): number {
    const place = this.#free.pop();
    if (place === undefined) throw new Error('no place is free');
    this.#holders.set(place, { key, since: performance.now() });
    return place;
  }

  #mayEnter(key: string | undefined): boolean {
    if (this.#free.length === 0) return false;
    if (this.#free.length > 1 || key === undefined) return true;
    for (const holder of this.#holders.values()) if (holder.key === key) return false;
    return true;
  }

  /** Takes the first visitor of the key whose turn it is. The key then moves to the end of the round. */
  #next(): Waiter | undefined {
    for (const [key, { waiters }] of this.#queues) {
      const [first] = waiters;
      if (first === undefined || !this.#mayEnter(key)) continue;
      this.#remove(first);
      const rest = this.#queues.get(key);
      if (rest !== undefined) {
        this.#queues.delete(key);
        this.#queues.set(key, rest);
      }
      return first;
    }
    return undefined;
  }

  #remove(waiter: Waiter): void {
    waiter.end();
    const waiters = this.#queues.get(waiter.key)?.waiters ?? [];
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) this.#queues.delete(waiter.key);
    this.#waiting--;
  }

  #makeRoomFor(key: string | undefined): void {
    let longest: Waiter[] = [];
    for (const { waiters } of this.#queues.values()) if (waiters.length > longest.length) longest = waiters;
    const newest = longest.at(-1);
    const own = this.#queues.get(key)?.waiters.length ?? 0;
    if (newest === undefined || own + 1 >= longest.length) throw this.#overloaded(key);
    this.#remove(newest);
    newest.reject(this.#overloaded(newest.key));
  }
}

interface Queue {
  /** When the queue became non-empty, by `performance.now()`. */
  readonly since: number;
  readonly waiters: Waiter[];
}

interface Holder {
  readonly key: string | undefined;
  readonly since: number;
}

interface Waiter {
  readonly key: string | undefined;
  readonly resolve: (place: number) => void;
  readonly reject: (error: AppError) => void;
  end: () => void;
}

const gone = (): AppError => new AppError('overloaded', 'The caller has gone.', { retryAfterSeconds: 1 });
