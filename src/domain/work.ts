import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, SpanOptions } from './tracing.ts';

/** How far a statement has come. `refused`: it got no place at the store. */
export type StatementState = 'waiting' | 'running' | 'ok' | 'failed' | 'refused';

/** A stream of answers may wait for any number of questions, one after the other. The last ones are enough. */
const MOST_OTHERS = 32;

/** A statement that a piece of work sent, or waits for. */
export interface SentStatement {
  readonly name: string;
  readonly lane: string;
  readonly state: StatementState;
  /** The wait for a place at the store. */
  readonly queueMs: number;
  /** The time in the store, so far. */
  readonly ms: number;
}

/**
 * A piece of work that is measured: a request, a question that several requests share, or a flush of several batches.
 * It knows its statements, for the log.
 */
export class Work {
  /** Set for a request's own work. */
  readonly requestId: string | null;
  /** Its part of the trace, if it is traced. */
  readonly span: Span | null;
  readonly #others: Work[] = [];
  readonly #open = new Set<OpenStatement>();
  #slowest: SentStatement | null = null;
  /** The slowest one that failed. */
  #failed: SentStatement | null = null;
  #statements = 0;

  constructor(requestId: string | null = null, span: Span | null = null) {
    this.requestId = requestId;
    this.span = span;
  }

  /** Notes that this work waits for another one. */
  waitFor(other: Work): void {
    if (this.#others.length === MOST_OTHERS) this.#others.shift();
    this.#others.push(other);
  }

  /** Notes that a statement waits for its place. */
  send(name: string, lane: string): OpenStatement {
    this.#statements++;
    const statement = new OpenStatement(name, lane, (ended) => {
      this.#open.delete(statement);
      this.#slowest = slower(this.#slowest, ended);
      if (ended.state !== 'ok') this.#failed = slower(this.#failed, ended);
    });
    this.#open.add(statement);
    return statement;
  }

  /** The number of statements, with those of the work that this one waits for. */
  get statements(): number {
    return this.#others.reduce((sum, other) => sum + other.statements, this.#statements);
  }

  /** The statement that took longest, its wait included. Null without statements. */
  get slowest(): SentStatement | null {
    return this.#others.reduce(
      (slowest, other) => slower(slowest, other.slowest),
      this.#stuckOr(this.#slowest),
    );
  }

  /** The same of those that failed or have not ended. Null if there is none. */
  get stuck(): SentStatement | null {
    return this.#others.reduce((stuck, other) => slower(stuck, other.stuck), this.#stuckOr(this.#failed));
  }

  #stuckOr(slowest: SentStatement | null): SentStatement | null {
    return [...this.#open].reduce((found, { soFar }) => slower(found, soFar), slowest);
  }
}

/** A statement that has not ended. */
export class OpenStatement {
  readonly #name: string;
  readonly #lane: string;
  readonly #onEnd: (statement: SentStatement) => void;
  readonly #sentAt = performance.now();
  #startedAt: number | null = null;

  constructor(name: string, lane: string, onEnd: (statement: SentStatement) => void) {
    this.#name = name;
    this.#lane = lane;
    this.#onEnd = onEnd;
  }

  /** Notes that it has got its place. */
  start(): void {
    this.#startedAt = performance.now();
  }

  end(state: StatementState): void {
    this.#onEnd({ ...this.soFar, state });
  }

  get soFar(): SentStatement {
    const now = performance.now();
    const startedAt = this.#startedAt;
    return {
      name: this.#name,
      lane: this.#lane,
      state: startedAt === null ? 'waiting' : 'running',
      queueMs: (startedAt ?? now) - this.#sentAt,
      ms: startedAt === null ? 0 : now - startedAt,
    };
  }
}

const slower = (a: SentStatement | null, b: SentStatement | null): SentStatement | null =>
  a === null || (b !== null && b.queueMs + b.ms > a.queueMs + a.ms) ? b : a;

const works = new AsyncLocalStorage<Work>();

/** Runs `run`, and all that it starts, as a part of this work. */
export const inWork = <T>(work: Work, run: () => T): T => works.run(work, run);

/** Undefined outside of requests and flushes. */
export const currentWork = (): Work | undefined => works.getStore();

/** Runs `run` as a span of its own, if the current work is traced. */
export async function traced<T>(name: string, options: SpanOptions, run: () => Promise<T>): Promise<T> {
  const current = currentWork();
  const span = current?.span?.child(name, options);
  if (current === undefined || span === undefined) return run();
  const work = new Work(current.requestId, span);
  current.waitFor(work);
  try {
    const result = await inWork(work, run);
    span.end();
    return result;
  } catch (error) {
    span.end({ error });
    throw error;
  }
}
