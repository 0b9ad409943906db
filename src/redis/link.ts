import { Redis } from 'ioredis';
import { PROBE_KEY } from './keys.ts';

/** Longer than any healthy answer, too short for a caller to notice. */
const ANSWER_MS = 250;
/** How long the breaker stays open before the next probe. */
const PROBE_MS = 1_000;
/** The number of unanswered probes before a reconnect. A dead peer never closes the connection itself. */
const PROBES_PER_CONNECTION = 3;

/** Redis did not answer, or not in time. Never leaves the service. */
export class RedisAway extends Error {
  override readonly name = 'RedisAway';
}

export interface RedisLinkOptions {
  /** Called once per change, for the log. */
  readonly onChange?: (state: RedisState) => void;
}

export type RedisState = 'up' | 'away';

/**
 * One connection to Redis that fails at once instead of waiting. Commands are never queued and never sent
 * again. A command without an answer within 250 ms is an error. While Redis is away, nobody waits for it.
 */
export class RedisLink {
  readonly #client: Redis;
  readonly #onChange: (state: RedisState) => void;
  #state: RedisState = 'away';
  #connection = 0;
  #probe: NodeJS.Timeout | undefined;
  #unanswered = 0;
  #closed = false;
  #changed: (() => void)[] = [];

  constructor(url: string, options: RedisLinkOptions = {}) {
    this.#onChange = options.onChange ?? (() => undefined);
    this.#client = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: 1_000,
      // Limits the handshake, and drops commands that run() no longer waits for.
      commandTimeout: 1_000,
      retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
    });
    // Without a listener ioredis prints errors. The state already shows an outage.
    this.#client.on('error', () => undefined);
    this.#client.on('close', () => this.#become('away'));
    this.#client.on('ready', () => {
      this.#connection++;
      void this.#ask();
    });
  }

  /** Host and port, for messages. Never the password. */
  get address(): string {
    const { host = 'localhost', port = 6379 } = this.#client.options;
    return `${host}:${port}`;
  }

  get state(): RedisState {
    return this.#state;
  }

  /** Grows with every new connection. Data that was loaded into Redis before it may be gone. */
  get connection(): number {
    return this.#connection;
  }

  /** Resolves when Redis is up, or after `ms` without it. */
  async firstContact(ms: number): Promise<void> {
    if (this.#state === 'up') return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#changed.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /**
   * Runs commands with one deadline for all of them. Rejects with RedisAway: at once while Redis is away,
   * otherwise within 250 ms. After any error Redis counts as away until it answers a probe.
   */
  async run<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    if (this.#state === 'away') throw new RedisAway('Redis is away');
    this.#gather();
    try {
      return await inTime(work(this.#client));
    } catch (error) {
      this.#become('away');
      throw error instanceof RedisAway ? error : new RedisAway('Redis failed', { cause: error });
    }
  }

  /**
   * Sends all commands of one turn of the event loop in one write. A write costs more than the command in it.
   */
  #gather(): void {
    const { stream } = this.#client;
    if (stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    this.#client.disconnect();
  }

  #become(state: RedisState): void {
    if (this.#closed) return;
    if (state === 'away') this.#probeLater();
    if (state === this.#state) return;
    this.#state = state;
    this.#unanswered = 0;
    this.#onChange(state);
    for (const tell of this.#changed.splice(0)) tell();
  }

  #probeLater(): void {
    if (this.#probe !== undefined) return;
    this.#probe = setTimeout(() => {
      this.#probe = undefined;
      void this.#ask();
    }, PROBE_MS);
    this.#probe.unref();
  }

  async #ask(): Promise<void> {
    // Not connected yet: 'ready' starts the next probe.
    if (this.#state === 'up' || this.#closed || this.#client.status !== 'ready') return;
    try {
      // A write, not PING: a replica and a full Redis answer PING, but cannot count requests.
      await inTime(this.#client.set(PROBE_KEY, '1', 'PX', 1));
      this.#become('up');
    } catch {
      this.#unanswered++;
      if (this.#unanswered % PROBES_PER_CONNECTION === 0) this.#client.disconnect(true);
      this.#probeLater();
    }
  }
}

/**
 * Rejects with RedisAway after 250 ms. They begin at the end of this turn of the event loop, when its commands are
 * sent. After a busy turn the timer fires before answers that arrived long ago are read, and would blame Redis for
 * this process's own delay. Hence the second setImmediate: it runs after the poll phase, which reads them.
 */
function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const sent = setImmediate(() => {
      timer = setTimeout(
        () => setImmediate(() => reject(new RedisAway('Redis did not answer in time'))),
        ANSWER_MS,
      );
    });
    work.then(resolve, reject).finally(() => {
      clearImmediate(sent);
      clearTimeout(timer);
    });
  });
}
