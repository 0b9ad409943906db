/// <reference path="../request/context.ts" />
// Read first: pino-http declares the id of a request as another type.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { AppError } from '../../domain/errors.ts';
import type { Work } from '../../domain/work.ts';
import { contextOf } from '../request/context.ts';

/** User agents are mostly shorter. A longer one would cost the log more than it says. */
const MAX_USER_AGENT = 256;

export interface RequestLogOptions {
  readonly log: Logger;
  /** From here on a request is slow. */
  readonly slowMs: number;
  /** Called for each request that was answered. */
  readonly onServed?: ((request: Served) => void) | undefined;
}

/** A request that was answered, as its log line has it. */
export interface Served {
  readonly requestId: string;
  readonly method: string | undefined;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** True for a stream: `ms` is how long the caller stayed. */
  readonly isStream: boolean;
  /** The bytes of the answer that were written to the connection, its headers included. */
  readonly bytes: number;
  readonly address: string;
  readonly userAgent: string;
  /** The app that it is about, if the caller has named one in a valid form. */
  readonly appId?: string;
}

/**
 * Logs one line per request. Of the caller's data it holds the method, the address, the user agent and the app; the
 * route is the endpoint's own path. A failed or slow request also says in which step and by which statement. Takes the
 * bare request: on a request extended by Express, this took a seventh of the time of a 304.
 */
export function requestLog({
  log,
  slowMs,
  onServed,
}: RequestLogOptions): (req: IncomingMessage, res: ServerResponse, work: Work) => void {
  const told = (req: IncomingMessage, res: ServerResponse): object => {
    const served = servedOf(req, res);
    onServed?.(served);
    const traceId = req.begun.work.span?.traceId;
    const fields = { ...served, ...whoseOf(res), ...(traceId === undefined ? {} : { traceId }) };
    return isSlow(req, res, slowMs) || hasFailed(res) ? { ...fields, ...whereOf(req, res) } : fields;
  };
  const middleware = pinoHttp<IncomingMessage, ServerResponse>({
    logger: log,
    customLogLevel: (req, res) => levelOf(res.statusCode, isSlow(req, res, slowMs)),
    customSuccessMessage: (req, res) => (isSlow(req, res, slowMs) ? 'slow request' : 'request'),
    customErrorMessage: () => 'request failed',
    customSuccessObject: (req, res) => told(req, res),
    customErrorObject: (req, res, err) => ({ ...told(req, res), err }),
  });
  return (req, res, work) => {
    req.begun = { work, at: performance.now(), bytesBefore: req.socket.bytesWritten };
    middleware(req, res);
  };
}

declare module 'http' {
  interface IncomingMessage {
    begun: Begun;
  }
}

/** The state at the beginning of a request. */
interface Begun {
  readonly work: Work;
  readonly at: number;
  readonly bytesBefore: number;
}

/** Noted for a request whose caller left before the answer began. nginx has made this number known. */
const CALLER_LEFT = 499;
export const statusOf = (res: ServerResponse): number => (res.headersSent ? res.statusCode : CALLER_LEFT);
const hasFailed = (res: ServerResponse): boolean => statusOf(res) >= CALLER_LEFT;

const msOf = ({ begun }: IncomingMessage): number => Math.round((performance.now() - begun.at) * 100) / 100;
/** A stream lasts as long as its caller stays. */
const isSlow = (req: IncomingMessage, res: ServerResponse, slowMs: number): boolean =>
  msOf(req) >= slowMs && contextOf(res as Response)?.isStream !== true;

/** `error`: a person has to look. `warn`: the service does worse than it should, and recovers by itself. */
function levelOf(status: number, slow: boolean): 'error' | 'warn' | 'info' {
  if (status >= 500 && status !== 503) return 'error';
  return status === 503 || slow ? 'warn' : 'info';
}

function servedOf(req: IncomingMessage, res: ServerResponse): Served {
  // Absent if the request did not reach Express.
  const { route = 'none', isStream = false, app } = contextOf(res as Response) ?? {};
  return {
    requestId: req.id,
    method: req.method,
    route,
    status: statusOf(res),
    ms: msOf(req),
    isStream,
    bytes: req.socket.bytesWritten - req.begun.bytesBefore,
    address: req.address,
    userAgent: userAgentOf(req),
    ...(app === undefined ? {} : { appId: app }),
  };
}

/** A word of a user agent that is as long as this is a token or a key, sent to the wrong place. */
const OPAQUE = /[\w+/=-]{32,}/g;

export const userAgentOf = ({ headers }: IncomingMessage): string =>
  (headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT).replace(OPAQUE, '[hidden]');

/** The account and key of a request, if they are known. */
function whoseOf(res: ServerResponse): object {
  const { principal } = contextOf(res as Response) ?? {};
  return principal === undefined ? {} : { accountId: principal.accountId, keyId: principal.keyId };
}

/** The steps of a request and one statement: its slowest one, or that which failed. */
function whereOf({ begun: { work } }: IncomingMessage, res: ServerResponse): object {
  const { timing } = contextOf(res as Response) ?? {};
  const slowest = (hasFailed(res) ? work.stuck : null) ?? work.slowest;
  return {
    ...(res.err instanceof AppError ? { code: res.err.code } : {}),
    ...(timing === undefined
      ? {}
      : { step: hasFailed(res) ? timing.current : timing.longest, ...timing.steps }),
    ...(slowest === null
      ? {}
      : {
          statements: work.statements,
          statement: slowest.name,
          lane: slowest.lane,
          state: slowest.state,
          queueMs: Math.round(slowest.queueMs),
          statementMs: Math.round(slowest.ms),
        }),
  };
}
