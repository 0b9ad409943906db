import type { ServerResponse } from 'node:http';
import { AppError } from '../../domain/errors.ts';
import type { AppId } from '../../domain/ids.ts';
import type { ReadCommitted } from '../../ingestion/committed.ts';
import type { Versioned } from '../answer/answers.ts';
import type { Computed } from '../answer/kept.ts';
import { Channel, type LiveQuestion } from './channel.ts';
import { preparedOf } from './prepared.ts';
import { LiveStream, type StreamCaller } from './stream.ts';

const TICK_MS = 250;
/** How often it is checked whether events were committed. */
const LOOK_MS = 1_000;
/** The most questions that are asked again at once. */
const ASKED_AT_ONCE = 4;
/** Streams of all callers. Each takes a connection and some memory. */
const MOST_STREAMS = 5_000;
/** Streams of one holder: an account, or all its links. The others leave room for other accounts. */
const MOST_OF_HOLDER = 1_000;

/** The first answer of a stream. */
export interface Opening {
  readonly versioned: Versioned;
  /** An instant of this process before the answer was asked for. */
  readonly askedAt: number;
  /** Null if the caller has the answer. */
  readonly computed: Computed | null;
}

/**
 * All event streams of a process. Equal questions of an account share a channel. Once a second the hub reads the
 * number of committed events of all apps with open streams, in one statement, and asks the questions of those
 * apps whose number has changed. A question whose window moves with the clock is asked again when it does.
 */
export class LiveHub {
  readonly #committed: ReadCommitted;
  readonly #channels = new Map<string, Channel>();
  readonly #timer: NodeJS.Timeout;
  /** The committed events of each app at the last look. */
  #known: ReadonlyMap<AppId, number> = new Map();
  #looking = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #asking = 0;
  #open = 0;
  readonly #openOf = new Map<string, number>();
  #answers = 0;
  #closed = false;

  constructor(committed: ReadCommitted) {
    this.#committed = committed;
    // Started here and not at the first stream: a timer keeps the context in which it was made.
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  get stats(): { readonly open: number; readonly answers: number } {
    return { open: this.#open, answers: this.#answers };
  }

  /** Takes a place for a stream until its response closes. Throws `overloaded` if there is none. */
  admit(holder: string, res: ServerResponse): void {
    if (this.#closed) throw stopping();
    const own = this.#openOf.get(holder) ?? 0;
    if (this.#open >= MOST_STREAMS || own >= MOST_OF_HOLDER) {
      throw new AppError('overloaded', 'Too many streams are open. Close some, or poll.', {
        retryAfterSeconds: 30,
      });
    }
    if (res.destroyed) return;
    this.#open++;
    this.#openOf.set(holder, own + 1);
    res.once('close', () => {
      this.#open--;
      const left = (this.#openOf.get(holder) ?? 1) - 1;
      if (left === 0) this.#openOf.delete(holder);
      else this.#openOf.set(holder, left);
    });
  }

  /** Sends the first answer on `caller.res`, whose headers are set, and then each answer that differs. */
  open(question: LiveQuestion, caller: StreamCaller, { versioned, askedAt, computed }: Opening): void {
    const channel = this.#channels.get(question.name) ?? new Channel(question, versioned, askedAt);
    this.#channels.set(question.name, channel);
    channel.take(versioned, askedAt);
    const stream = new LiveStream(caller, () => this.#answers++, {
      tag: (computed ?? versioned).tag,
      answer: computed === null ? null : preparedOf(computed),
    });
    channel.streams.add(stream);
    caller.res.once('close', () => {
      channel.streams.delete(stream);
      if (channel.streams.size > 0) return;
      this.#channels.delete(question.name);
      channel.close();
    });
    if (this.#closed) stream.end(stopping());
  }

  /** Ends all streams. Their callers connect again, to another process or later. */
  endAll(): void {
    this.#closed = true;
    for (const { streams } of this.#channels.values()) for (const stream of streams) stream.end(stopping());
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.#channels.size === 0) return;
    const now = performance.now();
    if (!this.#looking && now >= this.#lookedAt + LOOK_MS) void this.#look(now);
    this.#askOutdated();
    this.#send(now);
  }

  async #look(now: number): Promise<void> {
    this.#looking = true;
    this.#lookedAt = now;
    try {
      const apps = [...new Set([...this.#channels.values()].map(({ question }) => question.app))];
      const committed = await this.#committed(apps);
      this.#known = new Map(apps.map((app) => [app, committed.get(app) ?? 0]));
    } catch {
      // The store is away. The next look finds the changes of the meantime.
    } finally {
      this.#looking = false;
    }
  }

  #askOutdated(): void {
    for (const channel of this.#channels.values()) {
      if (this.#asking >= ASKED_AT_ONCE) return;
      const committed = this.#known.get(channel.question.app);
      if (committed === undefined || !channel.isOutdated(committed)) continue;
      this.#asking++;
      void channel.ask(committed).finally(() => {
        this.#asking--;
        this.#askOutdated();
      });
    }
  }

  /** Sends the changes, on the streams first that have waited longest: they may share a used-up window. */
  #send(now: number): void {
    const due: (readonly [LiveStream, Channel])[] = [];
    for (const channel of this.#channels.values()) {
      let isWriting = false;
      for (const stream of channel.streams) {
        stream.tick(now);
        if (stream.isDue(channel, now)) due.push([stream, channel]);
        isWriting ||= stream.isWriting;
      }
      if (!isWriting) channel.forget();
    }
    due.sort(([a], [b]) => a.sentAt - b.sentAt);
    for (const [stream, channel] of due) void stream.send(channel);
  }
}

const stopping = (): AppError =>
  new AppError('overloaded', 'The service is stopping. Connect again.', { retryAfterSeconds: 1 });
