import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import type { RequestHandler } from '../http/server/server.ts';
import { assertMembers, assertOneOf, assertWhole } from './strict.ts';
import type { Failing, Fault } from './types.ts';

/** Makes requests fail before they reach the service's own code. */
export class Faults {
  readonly #limit: number;
  readonly #active: ActiveFault[] = [];

  /** `limit`: the requests that a key may make in a window. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(fault: Fault): Failing {
    assertFault(fault);
    const active = new ActiveFault(fault);
    this.#active.push(active);
    return active;
  }

  endAll(): void {
    for (const fault of this.#active.splice(0)) fault.end();
  }

  /** Puts the faults in front of a listener. A thrown AppError gets the form of the service's own errors. */
  readonly before =
    (listener: RequestHandler): RequestHandler =>
    async (req, res) => {
      const fault = this.#active.find((each) => each.meets(req));
      if (fault === undefined || (await this.#fail(fault, req, res))) await listener(req, res);
    };

  /** Resolves if the request goes on to the service's own code. Otherwise it is answered, or throws the answer. */
  async #fail(active: ActiveFault, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    const { fault } = active;
    if ('delayMs' in fault) {
      await active.delay(fault.delayMs);
      return true;
    }
    if ('cutAfterBytes' in fault) {
      cutAfter(fault.cutAfterBytes, res);
      return true;
    }
    if ('reset' in fault) {
      req.socket.resetAndDestroy();
      return false;
    }
    if (fault.status === 502) {
      answerAsProxy(res);
      return false;
    }
    if (fault.status === 500) throw new Error(ASKED_FOR);
    const retryAfterSeconds = fault.retryAfterSeconds ?? 1;
    if (fault.status === 503) {
      throw new AppError(fault.code ?? 'store_unavailable', ASKED_FOR, { retryAfterSeconds });
    }
    res.setHeader('X-RateLimit-Limit', this.#limit);
    res.setHeader('X-RateLimit-Remaining', 0);
    res.setHeader('X-RateLimit-Reset', retryAfterSeconds);
    throw new AppError('rate_limited', ASKED_FOR, { retryAfterSeconds });
  }
}

const ASKED_FOR = 'A test asked for this fault.';
/** A longer timer ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const KINDS = ['status', 'delayMs', 'reset', 'cutAfterBytes'];

/** Throws an Error for a fault that the kit cannot make. */
function assertFault(fault: unknown): void {
  const known = [...KINDS, 'code', 'retryAfterSeconds', 'path', 'times'];
  assertMembers('a fault', fault, known);
  const given = fault as Readonly<Record<string, unknown>>;
  const kinds = KINDS.filter((kind) => given[kind] !== undefined);
  if (kinds.length !== 1) throw new Error(`A fault has one of ${KINDS.join(', ')}, not ${kinds.length}.`);
  const { status, code, retryAfterSeconds, path, times } = given;
  if (status !== undefined) assertOneOf('status', status, [429, 500, 502, 503]);
  if (given['reset'] !== undefined) assertOneOf('reset', given['reset'], [true]);
  if (given['delayMs'] !== undefined) assertWhole('delayMs', given['delayMs'], 0, LONGEST_TIMER_MS);
  if (given['cutAfterBytes'] !== undefined) assertWhole('cutAfterBytes', given['cutAfterBytes'], 0);
  if (code !== undefined) {
    if (status !== 503) throw new Error('Only a fault with status 503 has a code.');
    assertOneOf('code', code, ['overloaded', 'store_unavailable']);
  }
  if (retryAfterSeconds !== undefined) {
    if (status !== 503 && status !== 429)
      throw new Error('Only a fault with status 429 or 503 has retryAfterSeconds.');
    assertWhole('retryAfterSeconds', retryAfterSeconds, 1);
  }
  if (times !== undefined) assertWhole('times', times, 1);
  if (path !== undefined && !(typeof path === 'string' && path.startsWith('/'))) {
    throw new Error('path must be a text that begins with /.');
  }
}

/** Answers as a proxy does whose service is away. */
function answerAsProxy(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  const page =
    '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n';
  res.writeHead(502, { 'Content-Type': 'text/html', 'Content-Length': Buffer.byteLength(page) });
  res.end(page);
}

/** Breaks the connection off after so many bytes of the body. The headers are those of the whole answer. */
function cutAfter(most: number, res: ServerResponse): void {
  let left = most;
  const write = res.write.bind(res) as (...args: unknown[]) => boolean;
  const end = res.end.bind(res) as (...args: unknown[]) => ServerResponse;
  const cut = (chunk: Buffer): void => {
    const breakOff = (): void => void res.socket?.destroy();
    if (left > 0) write(chunk.subarray(0, left), breakOff);
    else {
      res.flushHeaders();
      setImmediate(breakOff);
    }
    left = -1;
  };
  /** True if this is more than may be sent. */
  const isTooMuch = (chunk: unknown, encoding: unknown): boolean => {
    if (left < 0) return true;
    if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk)) return false;
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (bytes.length <= left) {
      left -= bytes.length;
      return false;
    }
    cut(bytes);
    return true;
  };
  res.write = ((...args: unknown[]) =>
    isTooMuch(args[0], args[1]) ? false : write(...args)) as typeof res.write;
  res.end = ((...args: unknown[]) => (isTooMuch(args[0], args[1]) ? res : end(...args))) as typeof res.end;
}

class ActiveFault implements Failing {
  readonly fault: Fault;
  readonly #ended = new AbortController();
  #hits = 0;

  constructor(fault: Fault) {
    this.fault = fault;
  }

  get hits(): number {
    return this.#hits;
  }

  end(): void {
    this.#ended.abort();
  }

  /** True, and counted, if the request fails by this fault. */
  meets({ url = '' }: IncomingMessage): boolean {
    const { path = '', times = Number.POSITIVE_INFINITY } = this.fault;
    if (this.#ended.signal.aborted || this.#hits >= times || !url.startsWith(path)) return false;
    this.#hits++;
    return true;
  }

  /** Resolves after this time, or at the end of the fault. */
  async delay(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ended.signal }).catch(() => undefined);
  }
}
