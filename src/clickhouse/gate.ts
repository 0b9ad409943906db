import { AppError } from '../domain/errors.ts';

/** Numbered places with a bounded, first-come queue: what bounds the statements that run at once. */
export class Gate {
  readonly #free: number[];
  readonly #waiting: Waiter[] = [];
  readonly #maxWaiting: number;
  readonly #maxWaitMs: number;

  constructor(places: number, maxWaiting: number, maxWaitMs: number) {
    this.#free = Array.from({ length: places }, (_, place) => places - 1 - place);
    this.#maxWaiting = maxWaiting;
    this.#maxWaitMs = maxWaitMs;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves to a place to be given back with `leave`. Throws `overloaded` when it would wait too long. */
  enter(): Promise<number> {
    const place = this.#free.pop();
    if (place !== undefined) return Promise.resolve(place);
    if (this.#waiting.length >= this.#maxWaiting) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        resolve,
        timer: setTimeout(() => {
          this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
          reject(overloaded());
        }, this.#maxWaitMs),
      };
      this.#waiting.push(waiter);
    });
  }

  leave(place: number): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free.push(place);
      return;
    }
    clearTimeout(next.timer);
    next.resolve(place);
  }
}

interface Waiter {
  readonly resolve: (place: number) => void;
  readonly timer: NodeJS.Timeout;
}

const overloaded = (): AppError =>
  new AppError('overloaded', 'Too many questions at once. Try again shortly.', { retryAfterSeconds: 1 });
