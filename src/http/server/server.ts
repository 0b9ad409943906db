import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { Listener } from '../../config.ts';
import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../../domain/time.ts';
import type { Tracer } from '../../domain/tracing.ts';
import { inWork, Work } from '../../domain/work.ts';
import { addressOf, cameByHttps, peerAddress } from '../request/address.ts';
import { problem } from '../request/problem.ts';
import { headerValues } from '../request/raw-headers.ts';
import { newRequestId, requestIdFor } from '../request/request-id.ts';
import { nextTurn } from '../request/turns.ts';
import { FinishingServer } from './finishing-server.ts';
import type { Messages } from './messages.ts';
import { requestLog, type Served, userAgentOf } from './request-log.ts';
import { endWithAnswer } from './request-span.ts';

const MAX_URL = 8 * 1024;
const MAX_HEADERS = 16 * 1024;
/**
 * Node limits the URL and the headers together, and does not tell which of them is too long. With room for
 * both, nearly every request that is too large reaches `refusalOf`, which can tell. Beyond this limit only
 * the piece that overflowed is known. Node reads 64 KiB at once, so this is usually the first piece, with the
 * request line.
 */
const MAX_PARSED = 32 * 1024;
/** Each connection takes a descriptor and some memory. Connections beyond this are closed at once. */
const MAX_CONNECTIONS = 10_000;
/** Limits the headers, also on a connection that sends nothing. */
const HEADERS_MS = 10_000;
/** Limits the whole request: enough for a megabyte over a bad mobile line. */
const REQUEST_MS = 60_000;
/**
 * Closes a connection without traffic in either direction: a caller that does not read its answer. Longer
 * than any answer takes.
 */
const SILENCE_MS = 300_000;
/**
 * The rest of a request that Node's parser refused is read and dropped for this long. A connection that is closed with
 * unread data is reset, and its sender may never see the answer.
 */
const LINGER_MS = 5_000;

export interface HttpServerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly isDraining: () => boolean;
  /** Those of the listener, if it is an Express application; Node's own by default. */
  readonly messages?: Messages;
  /** The number of proxies in front whose X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
  /** From here on the log calls a request slow. */
  readonly slowMs: number;
  /** The longest time in which a request may arrive; a minute by default. */
  readonly longestRequestMs?: number;
  /** Null: requests are not traced. */
  readonly tracer?: Tracer | null;
  /** Called for each request that was answered. */
  readonly onServed?: (request: Served) => void;
}

/** Serves a request. A rejection becomes an answer in the form of all errors. */
export type RequestHandler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface HttpServer {
  /** Starts listening and resolves to the address as a URL. Rejects if, for example, the port is taken. */
  listen(listener: Listener): Promise<string>;
  /** Stops listening. Resolves when every request that has begun is answered, after 20 s at the latest. */
  finish(): Promise<void>;
}

/**
 * Makes a server whose answers all have the service's error form and a line in the log, even for requests
 * that Node's parser refuses. `listener` gets the request with its id in X-Request-Id and its target in
 * origin form.
 */
export function createHttpServer(listener: RequestHandler, deps: HttpServerDeps): HttpServer {
  const logRequest = requestLog(deps);
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    const requestId = requestIdFor(req.headers['x-request-id'], deps.clock());
    res.setHeader('X-Request-Id', requestId);
    // Browsers take no answer for another type than it says.
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (deps.isDraining()) res.setHeader('Connection', 'close');
    req.id = requestId;
    req.url = originForm(req.url ?? '');
    req.address = addressOf(req, deps.trustedProxies);
    req.isSecure = cameByHttps(req, deps.trustedProxies);
    const refusal = refusalOf(req);
    if (refusal !== null) {
      refuse(req, res, refusal, deps.log);
      return;
    }
    const span = deps.tracer?.request(req.headers) ?? null;
    if (span !== null) endWithAnswer(span, req, res);
    const work = new Work(requestId, span);
    logRequest(req, res, work);
    nextTurn()
      .then(() => inWork(work, () => listener(req, res)))
      .catch((error: Error) => fail(res, error, requestId));
  };
  const server = new FinishingServer(
    {
      ...deps.messages,
      maxHeaderSize: MAX_PARSED,
      // Such a request is refused in `refusalOf`, with a body.
      requireHostHeader: false,
      headersTimeout: HEADERS_MS,
      requestTimeout: deps.longestRequestMs ?? REQUEST_MS,
      connectionsCheckingInterval: 2_000,
      // Load balancers usually keep idle connections for 60 s. They must close first.
      keepAliveTimeout: 65_000,
    },
    serve,
  );
  // By default Node drops the headers beyond 2,000, and a second Authorization with them. Their size is
  // limited anyway.
  server.maxHeadersCount = 0;
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(SILENCE_MS);
  server.on('clientError', (error: ClientError, socket) => answerRaw(rawRefusal(error), error, socket, deps));
  // The caller sends the body when it is asked to (RFC 9110, section 10.1.1). That is when the body is read: a refused
  // one is never sent.
  server.on('checkContinue', (req, res) => {
    const { shouldKeepAlive } = res;
    res.shouldKeepAlive = false;
    req.once('resume', () => {
      if (res.headersSent) return;
      res.shouldKeepAlive = shouldKeepAlive;
      res.writeContinue();
    });
    serve(req, res);
  });
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1). Node would answer 417 without a body.
  server.on('checkExpectation', serve);
  server.on('connect', (_req, socket: Duplex) => {
    // Node has removed its listeners. Without these, a reset would end the process, and nothing would be read.
    socket.on('error', () => undefined);
    socket.resume();
    answerRaw(new AppError('bad_request', 'This is not a proxy.'), null, socket, deps);
  });
  return { listen: (at) => listen(server, at), finish: () => server.finish() };
}

function listen(server: Server, { host, port }: Listener): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const { address, port: actual, family } = server.address() as AddressInfo;
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`);
    });
  });
}

/** Returns the target in origin form. The absolute form also names the host (RFC 9112, section 3.2.2). */
const originForm = (target: string): string => {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return path === target || path.startsWith('/') ? path : `/${path}`;
};

function refusalOf(req: IncomingMessage): AppError | null {
  const target = req.url ?? '';
  if (target.length > MAX_URL) return urlTooLong();
  const size = req.rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
  if (size > MAX_HEADERS) return headersTooLarge();
  if (!target.startsWith('/') && target !== '*') return badRequest();
  const hosts = headerValues(req, 'host').length;
  // A proxy and this service could read two hosts as different sites (RFC 9112, section 3.2).
  if (hosts > 1 || (hosts === 0 && req.httpVersion === '1.1')) return badRequest();
  return null;
}

function refuse(req: IncomingMessage, res: ServerResponse, error: AppError, log: Logger): void {
  const { id: requestId, address } = req;
  const status = writeProblem(res, error, requestId);
  const userAgent = userAgentOf(req);
  log.info({ requestId, status, code: error.code, address, userAgent }, 'request refused');
}

function writeProblem(res: ServerResponse, error: Error, requestId: string): number {
  const { status, headers, body } = problem(error, requestId);
  const text = JSON.stringify(body);
  res.writeHead(status, {
    ...headers,
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(text),
  });
  res.end(text);
  return status;
}

/** Answers a request whose listener threw. The error is logged by `requestLog`. */
function fail(res: ServerResponse, error: Error, requestId: string): void {
  res.err = error;
  if (res.headersSent) res.destroy();
  else writeProblem(res, error, requestId);
}

interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Returns the error for a request that Node's parser refused. */
function rawRefusal({ code, rawPacket }: ClientError): AppError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow();
  if (code !== 'HPE_HEADER_OVERFLOW') return badRequest();
  const start = rawPacket?.subarray(0, MAX_URL + 16).toString('latin1') ?? '';
  return /^[A-Z]+ [^\s]*$/.test(start) && start.length > MAX_URL ? urlTooLong() : headersTooLarge();
}

/** Connections with an answer of `answerRaw`. Each further piece is another error of the parser. */
const refused = new WeakSet<Duplex>();

function answerRaw(
  refusal: AppError,
  error: ClientError | null,
  socket: Duplex,
  { clock, log }: HttpServerDeps,
): void {
  if (refused.has(socket)) return;
  // The caller has gone, or an answer has begun: nothing can be sent.
  if (error?.code === 'ECONNRESET' || !socket.writable || hasBegun(socket)) {
    socket.destroy();
    return;
  }
  const requestId = newRequestId(clock());
  const { status, headers, body } = problem(refusal, requestId);
  log.info({ requestId, status, code: refusal.code, address: peerAddress(socket) }, 'request refused');
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  refused.add(socket);
  socket.end(`HTTP/1.1 ${status} ${body.title}\r\n${lines.join('')}\r\n${text}`);
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(lingering));
}

/**
 * True if an answer has begun on this connection. Node's own handler of `clientError` checks the same field.
 */
function hasBegun(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as { _httpMessage?: { readonly headersSent: boolean } };
  return message?.headersSent ?? false;
}

const urlTooLong = () => new AppError('uri_too_long', `The URL is longer than ${MAX_URL} bytes.`);
const headersTooLarge = () =>
  new AppError('headers_too_large', `The headers are larger than ${MAX_HEADERS} bytes.`);
const tooSlow = () => new AppError('bad_request', 'The request did not come in time.');
const badRequest = () => new AppError('bad_request', 'The request is not valid HTTP.');
