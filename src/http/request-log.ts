import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { contextOf } from './context.ts';

/** One line per request: of what the caller sent, only the method; the route is ours. */
export function requestLog(log: Logger): RequestHandler {
  return pinoHttp<Request, Response>({
    logger: log,
    quietReqLogger: true,
    quietResLogger: true,
    customAttributeKeys: { reqId: 'requestId' },
    customLogLevel: (_req, res) => (res.statusCode >= 500 ? 'error' : 'info'),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request failed',
    customSuccessObject: (req, res, { responseTime }: { responseTime: number }) =>
      line(req, res, responseTime),
    customErrorObject: (req, res, err, { responseTime }: { responseTime: number }) => ({
      ...line(req, res, responseTime),
      err,
    }),
  });
}

function line(req: Request, res: Response, ms: number): object {
  const { route, principal } = contextOf(res);
  return {
    method: req.method,
    route: route ?? 'none',
    status: res.statusCode,
    ms,
    ...(principal === undefined ? {} : { accountId: principal.accountId, keyId: principal.keyId }),
  };
}
