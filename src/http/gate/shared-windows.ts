import { type ClientRateLimitInfo, MemoryStore, type Options, type Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import { RATE_PREFIX } from '../../redis/keys.ts';
import type { RedisLink } from '../../redis/link.ts';

/**
 * Windows in Redis, shared by all processes. rate-limit-redis loads its scripts once, when it is made, so
 * each new connection gets a new store. Every method rejects with RedisAway: at once while Redis is away,
 * otherwise within 250 ms.
 */
export class SharedWindows implements Store {
  readonly localKeys = false;
  readonly #link: RedisLink;
  #options: Options | undefined;
  #current: { readonly connection: number; readonly store: Promise<RedisStore> } | undefined;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  init(options: Options): void {
    this.#options = options;
  }

  increment(key: string): Promise<ClientRateLimitInfo> {
    return this.#link.run(async (client) => (await this.#store(client)).increment(key));
  }

  decrement(key: string): Promise<void> {
    return this.#link.run(async (client) => (await this.#store(client)).decrement(key));
  }

  resetKey(key: string): Promise<void> {
    return this.#link.run(async (client) => (await this.#store(client)).resetKey(key));
  }

  #store(client: Redis): Promise<RedisStore> {
    const connection = this.#link.connection;
    if (this.#current?.connection === connection) return this.#current.store;
    const store = this.#load(client);
    const current = { connection, store };
    this.#current = current;
    store.catch(() => {
      if (this.#current === current) this.#current = undefined;
    });
    return store;
  }

  async #load(client: Redis): Promise<RedisStore> {
    if (this.#options === undefined) throw new Error('init comes first');
    const store = new RedisStore({
      prefix: RATE_PREFIX,
      sendCommand: (command: string, ...args: string[]) =>
        client.call(command, ...args) as Promise<RedisReply>,
    });
    await store.init(this.#options);
    return store;
  }
}

/**
 * Windows in this process. The library's store returns its own counter object, and parallel requests change
 * it before it is read. Two requests could both see the later count, and one too many would be refused. A
 * copy made before any other request runs is exact.
 */
export class LocalWindows extends MemoryStore {
  /** Sets a key's window, as if the key had made `totalHits` requests. `resetMs`: when it ends, epoch ms. */
  set(key: string, totalHits: number, resetMs: number): void {
    this.previous.delete(key);
    this.current.set(key, { totalHits, resetTime: new Date(resetMs) });
  }

  override increment(key: string): Promise<ClientRateLimitInfo> {
    const counted = super.increment(key);
    const window = this.current.get(key);
    if (window === undefined) return counted;
    const { totalHits, resetTime } = window;
    return counted.then(() => ({ totalHits, resetTime }));
  }
}
