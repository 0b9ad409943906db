import type { ServerResponse } from 'node:http';
import { AppError } from '../../domain/errors.ts';
import type { Counted } from '../gate/rate-limit.ts';
import type { Prepared, Source } from './prepared.ts';
import { COMMENT, idLine, lastEvent, OPENING } from './wire.ts';

/** The shortest time between two answers of a stream. */
const PACE_MS = 1_000;
const COMMENT_MS = 15_000;
/** How often it is checked that the caller may still read the app. */
const CONFIRM_MS = 1_000;
/** The pause after an answer that could not be computed. */
const PAUSE_MS = 2_000;
/** How long a caller who does not read may keep a stream open that has ended. */
const END_MS = 5_000;

/** The request of a stream. */
export interface StreamCaller {
  readonly requestId: string;
  readonly res: ServerResponse;
  /** Counts an answer in the key's window. */
  count(): Promise<Counted>;
  /** Throws the error that a new request of the caller would get. */
  confirm(): Promise<void>;
}

/** The beginning of a stream. */
export interface Start {
  /** The tag of the first answer. */
  readonly tag: string;
  /** Null if the caller has the answer. */
  readonly answer: Prepared | null;
}

/**
 * One open event stream. It holds no answer while the caller reads slowly: the next answer is taken when the one
 * before has left, and is then the newest.
 */
export class LiveStream {
  readonly #caller: StreamCaller;
  readonly #onSent: () => void;
  /** The tag of the answer that the caller has. */
  #tag: string;
  /** Of the bytes that the caller has, if known. */
  #digest: string | null = null;
  /** True if the next answer is counted already. */
  #isPaid = false;
  #isWriting = false;
  #isConfirming = false;
  #sentAt: number;
  #writtenAt: number;
  #confirmedAt: number;
  /** Nothing is sent before: the window is used up, or the answer could not be computed. */
  #notBefore = 0;
  #end: { readonly error: AppError; readonly at: number } | undefined;

  constructor(caller: StreamCaller, onSent: () => void, { tag, answer }: Start) {
    this.#caller = caller;
    this.#onSent = onSent;
    this.#tag = tag;
    const now = performance.now();
    this.#sentAt = answer === null ? now - PACE_MS : now;
    this.#writtenAt = now;
    this.#confirmedAt = now;
    void this.#write(async () => {
      this.#caller.res.write(OPENING);
      if (answer !== null) await this.#writeAnswer(answer);
    });
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** When the last answer was sent. If many streams wait for one window, the one that waits longest is first. */
  get sentAt(): number {
    return this.#sentAt;
  }

  /** True if the source's latest answer can be sent now. */
  isDue({ latest }: Source, now: number): boolean {
    return (
      latest.tag !== this.#tag &&
      !this.#isWriting &&
      this.#end === undefined &&
      now >= this.#sentAt + PACE_MS &&
      now >= this.#notBefore
    );
  }

  /** Does the work that is due: a comment, a check of the access, the end. */
  tick(now: number): void {
    if (this.#end !== undefined) {
      if (now > this.#end.at + END_MS) this.#caller.res.destroy();
      return;
    }
    if (now >= this.#confirmedAt + CONFIRM_MS && !this.#isConfirming) void this.#confirm(now);
    if (now >= this.#writtenAt + COMMENT_MS && !this.#isWriting) {
      void this.#write(() => this.#put([COMMENT]));
    }
  }

  /** Sends the source's latest answer, if the key's window has room for it. */
  send(source: Source): Promise<void> {
    return this.#write(async () => {
      if (!(await this.#pay())) return;
      const { latest } = source;
      const answer = await source.prepare(latest);
      if (this.#end !== undefined) return;
      this.#tag = answer.tag;
      if (answer.digest !== null && answer.digest === this.#digest) {
        // The same bytes under another tag. It costs the caller nothing.
        await this.#put([Buffer.from(`${idLine(answer.tag)}\n`)]);
        return;
      }
      this.#isPaid = false;
      this.#sentAt = performance.now();
      await this.#writeAnswer(answer);
    });
  }

  /** Sends the last event, and closes. Nothing follows it. */
  end(error: AppError): void {
    if (this.#end !== undefined) return;
    this.#end = { error, at: performance.now() };
    if (!this.#isWriting) this.#finish(error);
  }

  async #pay(): Promise<boolean> {
    if (this.#isPaid) return true;
    const { passes, leftMs } = await this.#caller.count();
    if (passes) this.#isPaid = true;
    else this.#notBefore = performance.now() + leftMs;
    return passes;
  }

  async #confirm(now: number): Promise<void> {
    this.#isConfirming = true;
    this.#confirmedAt = now;
    try {
      await this.#caller.confirm();
    } catch (error) {
      // If the store is away, the next check decides.
      if (error instanceof AppError && error.status < 500) this.end(error);
    } finally {
      this.#isConfirming = false;
    }
  }

  /** Runs one piece of writing at a time. */
  async #write(work: () => Promise<void>): Promise<void> {
    this.#isWriting = true;
    try {
      await work();
    } catch {
      // Nothing of the answer was sent, or the connection is closed.
      this.#notBefore = performance.now() + PAUSE_MS;
    } finally {
      this.#isWriting = false;
      if (this.#end !== undefined) this.#finish(this.#end.error);
    }
  }

  async #writeAnswer({ tag, digest, data }: Prepared): Promise<void> {
    const { res } = this.#caller;
    res.write(idLine(tag));
    try {
      await this.#put(data());
    } catch (error) {
      // The caller connects again, and gets the newest answer.
      res.destroy();
      throw error;
    }
    this.#digest = digest;
    this.#onSent();
  }

  /** Writes at the pace of the caller. */
  async #put(pieces: AsyncIterable<Buffer> | readonly Buffer[]): Promise<void> {
    const { res } = this.#caller;
    for await (const piece of pieces) {
      if (res.destroyed) return;
      res.write(piece);
      if (res.writableNeedDrain) await drained(res);
    }
    this.#writtenAt = performance.now();
  }

  #finish(error: AppError): void {
    const { res, requestId } = this.#caller;
    if (!res.destroyed && !res.writableEnded) res.end(lastEvent(error, requestId));
  }
}

/** Resolves when the written bytes have left, or the connection has closed. */
const drained = (res: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.once('drain', done);
    res.once('close', done);
  });
