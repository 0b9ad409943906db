import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../../src/cli/cli-error.ts';
import { messageOf } from '../../src/domain/thrown.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** From sending the request to the last byte of the answer. */
  readonly ms: number;
}

interface Request {
  readonly method?: 'GET' | 'POST';
  readonly key?: string;
  readonly etag?: string | null;
  readonly body?: string;
}

const CONNECTIONS = 256;
const TIMEOUT_MS = 60_000;
/** A request that the service refuses for a while is sent again so often. */
const ATTEMPTS = 20;

/** A running service, known only by its address and keys. */
export class Deployment {
  readonly url: string;
  readonly keys: readonly string[];
  readonly #signal: AbortSignal;
  readonly #isSecure: boolean;
  readonly #agent: HttpAgent;

  constructor(url: string, keys: readonly string[], signal: AbortSignal) {
    this.url = url.replace(/\/+$/, '');
    this.keys = keys;
    this.#signal = signal;
    this.#isSecure = url.startsWith('https:');
    const options = { keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' as const };
    this.#agent = this.#isSecure ? new HttpsAgent(options) : new HttpAgent(options);
  }

  get firstKey(): string {
    return this.keys[0] ?? '';
  }

  /** Sends one request. Rejects if no whole answer comes. */
  send(path: string, { method = 'GET', key, etag, body }: Request = {}): Promise<Answer> {
    const headers = {
      Accept: 'application/json',
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(etag === undefined || etag === null ? {} : { 'If-None-Match': etag }),
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    };
    const request = this.#isSecure ? httpsRequest : httpRequest;
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.#agent, signal: this.#signal, timeout: TIMEOUT_MS };
      const sent = request(`${this.url}${path}`, options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', reject);
        answer.once('end', () => {
          const ms = performance.now() - began;
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, ms });
        });
      });
      sent.once('timeout', () => sent.destroy(new Error(`no answer for ${TIMEOUT_MS / 1000} s`)));
      sent.once('error', reject);
      sent.end(body);
    });
  }

  /** The same, and again after 429 and 503, when the answer says so. Waiting is not part of `ms`. */
  async patiently(path: string, request: Request): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.send(path, request);
      if ((answer.status !== 429 && answer.status !== 503) || attempt === ATTEMPTS) return answer;
      const seconds = Number(answer.headers['retry-after'] ?? 1);
      await sleep(Math.max(1, seconds) * 1000, undefined, { signal: this.#signal });
    }
  }

  /** Waits until a key may send `requests` in its window. Returns its limit: requests per minute. */
  async roomFor(key: string, requests: number): Promise<number> {
    const answer = await this.patiently('/api/v1/apps', { key });
    const number = (name: string): number => Number(answer.headers[name]);
    if (number('x-ratelimit-remaining') < requests) {
      await sleep(number('x-ratelimit-reset') * 1000, undefined, { signal: this.#signal });
    }
    return number('x-ratelimit-limit');
  }

  /** Waits until each key may send `requests` in its window. Returns how many all keys may send in a minute. */
  async requestsPerMinute(requests: number): Promise<number> {
    const limits = await Promise.all(this.keys.map((key) => this.roomFor(key, requests)));
    return Math.min(...limits) * this.keys.length;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Checks the address and the keys. Throws a CliError that says which of them is wrong. */
export async function checked(deployment: Deployment): Promise<Deployment> {
  for (const key of deployment.keys) {
    const answer = await deployment.patiently('/api/v1/apps', { key }).catch((error: unknown) => {
      throw new CliError(`--url: ${deployment.url} does not answer: ${messageOf(error)}.`);
    });
    if (answer.status === 401) throw new CliError('--key: the service does not accept a key (status 401).');
    if (answer.status !== 200 || answer.headers['x-ratelimit-limit'] === undefined) {
      throw new CliError(
        `--url: ${deployment.url} is not the Public API of this service (status ${answer.status}).`,
      );
    }
  }
  return deployment;
}
