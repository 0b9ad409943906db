import { AppError } from '../domain/errors.ts';

export interface GateLimits {
  /** Statements that run at once. */
  readonly places: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/** Who asks for a place. */
export interface Visitor {
  /** Absent for the service itself, which may take every place. */
  readonly key?: string;
  /** Leaves the queue when aborted. */
  readonly signal?: AbortSignal;
  /** Instead of the gate's own. */
  readonly maxWaitMs?: number;
}

/**
 * Numbered places with a bounded queue: what bounds the statements that run at once. It is fair between keys, however
 * many statements each sends: the queue is served key by key in turn, a key that runs something leaves the last free
 * place to others, and when the queue is full, whoever has the most in it loses the newest.
 */
export class Gate {
  readonly #limits: GateLimits;
  readonly #free: number[];
  /** By key, in the order of their turns. */
  readonly #queues = new Map<string | undefined, Waiter[]>();
  #waiting = 0;
  /** Who holds which place. */
  readonly #holders = new Map<number, string | undefined>();

  constructor(limits: GateLimits) {
    this.#limits = limits;
    this.#free = Array.from({ length: limits.places }, (_, place) => limits.places - 1 - place);
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves to a place to be given back with `leave`. Throws `overloaded` when it would wait too long, or when the
   * visitor has gone.
   */
  async enter({ key, signal, maxWaitMs }: Visitor = {}): Promise<number> {
    if (signal?.aborted) throw gone();
    if (!this.#queues.has(key) && this.#mayEnter(key)) return this.#take(key);
    if (this.#waiting >= this.#limits.maxWaiting) this.#makeRoomFor(key);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { key, resolve, reject, end: () => undefined };
      const giveUp = (error: () => AppError) => () => {
        this.#remove(waiter);
        reject(error());
      };
      const timer = setTimeout(giveUp(overloaded), maxWaitMs ?? this.#limits.maxWaitMs);
      const leave = giveUp(gone);
      signal?.addEventListener('abort', leave, { once: true });
      waiter.end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      this.#waiting++;
      const queue = this.#queues.get(key);
      if (queue === undefined) this.#queues.set(key, [waiter]);
      else queue.push(waiter);
    });
  }

  leave(place: number): void {
    this.#holders.delete(place);
    this.#free.push(place);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      next.resolve(this.#take(next.key));
    }
  }

  #take(key: string | undefined): number {
    const place = this.#free.pop();
    if (place === undefined) throw new Error('no place is free');
    this.#holders.set(place, key);
    return place;
  }

  #mayEnter(key: string | undefined): boolean {
    if (this.#free.length === 0) return false;
    return this.#free.length > 1 || key === undefined || ![...this.#holders.values()].includes(key);
  }

  /** The first of the key whose turn it is; its key then goes to the end of the round. */
  #next(): Waiter | undefined {
    for (const [key, [first]] of this.#queues) {
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
    const queue = this.#queues.get(waiter.key) ?? [];
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length === 0) this.#queues.delete(waiter.key);
    this.#waiting--;
  }

  #makeRoomFor(key: string | undefined): void {
    let longest: Waiter[] = [];
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue;
    const newest = longest.at(-1);
    const own = this.#queues.get(key)?.length ?? 0;
    if (newest === undefined || own + 1 >= longest.length) throw overloaded();
    this.#remove(newest);
    newest.reject(overloaded());
  }
}

interface Waiter {
  readonly key: string | undefined;
  readonly resolve: (place: number) => void;
  readonly reject: (error: AppError) => void;
  end: () => void;
}

const overloaded = (): AppError =>
  new AppError('overloaded', 'Too many questions at once. Try again shortly.', { retryAfterSeconds: 1 });
const gone = (): AppError => new AppError('overloaded', 'The caller has gone.', { retryAfterSeconds: 1 });
