import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens to a request and its answer on the way. */
export type Fault =
  | { readonly kind: 'none' }
  /** Nobody listens. */
  | { readonly kind: 'refuse' }
  /** Nothing gets through, in either direction, until another fault is set; then what was held goes on. */
  | { readonly kind: 'hang' }
  /** The connection is reset when the request comes. */
  | { readonly kind: 'reset' }
  /** The answer comes late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Only the first bytes of the request arrive, then both sides are cut off. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** The request arrives; of the answer only the first bytes come back. */
  | { readonly kind: 'truncate'; readonly bytes: number }
  /** Request and answer creep. */
  | { readonly kind: 'slow'; readonly bytesPerSecond: number };

export interface FaultProxy {
  readonly url: string;
  /** From now on; a function is asked at each request. */
  set(fault: Fault | (() => Fault)): void;
  /** Requests that a fault hit. */
  readonly hits: number;
  close(): Promise<void>;
}

const NONE: Fault = { kind: 'none' };

/** A TCP proxy before `target` (a URL) that knows of requests only that each begins after the answer to the one before. */
export async function faultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer({ allowHalfOpen: false });
  const links = new Set<Link>();
  let choose: () => Fault = () => NONE;
  let hits = 0;
  const pick = (): Fault => {
    const fault = choose();
    if (fault.kind !== 'none') hits++;
    return fault;
  };
  server.on('connection', (client) => {
    const link = new Link(client, connect(Number(port), hostname), pick);
    links.add(link);
    client.once('close', () => links.delete(link));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = server.address() as AddressInfo;
  const refuse = (): void => {
    server.close();
    for (const link of links) link.reset();
  };
  return {
    url: `http://127.0.0.1:${own.port}`,
    set: (fault) => {
      choose = typeof fault === 'function' ? fault : () => fault;
      if (typeof fault !== 'function' && fault.kind === 'refuse') return refuse();
      if (!server.listening) server.listen(own.port, '127.0.0.1');
      for (const link of links) link.release();
    },
    get hits() {
      return hits;
    },
    close: async () => {
      for (const link of links) link.reset();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** One connection, with the fault of the request that is on it. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #pick: () => Fault;
  #fault: Fault = NONE;
  #isAnswered = true;
  #sent = 0;
  #answered = 0;
  #goOn: (() => void) | null = null;
  #held: Promise<void> = Promise.resolve();

  constructor(client: Socket, server: Socket, pick: () => Fault) {
    this.#client = client;
    this.#server = server;
    this.#pick = pick;
    // Each side in its order; what is slow holds up what comes after it.
    let [up, down] = [Promise.resolve(), Promise.resolve()];
    client.on('data', (chunk: Buffer) => {
      up = up.then(() => this.#request(chunk)).catch(() => this.reset());
    });
    server.on('data', (chunk: Buffer) => {
      down = down.then(() => this.#answer(chunk)).catch(() => this.reset());
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
    this.#goOn?.();
  }

  release(): void {
    this.#goOn?.();
    this.#goOn = null;
  }

  async #request(chunk: Buffer): Promise<void> {
    if (this.#isAnswered) this.#begin();
    const fault = this.#fault;
    if (fault.kind === 'reset') return this.reset();
    if (fault.kind === 'hang') await this.#held;
    if (fault.kind === 'cut') {
      this.#server.write(chunk.subarray(0, Math.max(0, fault.bytes - this.#sent)));
      this.#sent += chunk.length;
      if (this.#sent < fault.bytes) return;
      // What was written has to leave before the end.
      await sleep(20);
      return this.reset();
    }
    if (fault.kind === 'slow') return creep(this.#server, chunk, fault.bytesPerSecond);
    this.#server.write(chunk);
  }

  #begin(): void {
    this.#fault = this.#pick();
    this.#isAnswered = false;
    this.#sent = 0;
    this.#answered = 0;
    if (this.#fault.kind !== 'hang') return;
    this.#held = new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }

  async #answer(chunk: Buffer): Promise<void> {
    this.#isAnswered = true;
    const fault = this.#fault;
    if (fault.kind === 'hang') await this.#held;
    if (fault.kind === 'delay') await sleep(fault.ms);
    if (fault.kind === 'slow') return creep(this.#client, chunk, fault.bytesPerSecond);
    if (fault.kind !== 'truncate') {
      this.#client.write(chunk);
      return;
    }
    this.#client.write(chunk.subarray(0, Math.max(0, fault.bytes - this.#answered)));
    this.#answered += chunk.length;
    if (this.#answered < fault.bytes) return;
    await sleep(20);
    this.reset();
  }
}

const STEPS_PER_SECOND = 50;

async function creep(to: Socket, chunk: Buffer, bytesPerSecond: number): Promise<void> {
  const step = Math.max(1, Math.floor(bytesPerSecond / STEPS_PER_SECOND));
  for (let from = 0; from < chunk.length && to.writable; from += step) {
    to.write(chunk.subarray(from, from + step));
    await sleep(1000 / STEPS_PER_SECOND);
  }
}
