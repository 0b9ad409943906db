import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { contextOf } from './context.ts';

/** One line per request: of what the caller sent, only the method and the request's id; the route is ours. */
export const requestLog =
  (log: Logger): RequestHandler =>
  (req, res, next) => {
    const began = performance.now();
    // Whether the answer was sent or the connection broke.
    res.once('close', () => {
      const line = {
        requestId: req.id,
        method: req.method,
        route: contextOf(res).route ?? 'none',
        status: res.statusCode,
        ms: Math.round((performance.now() - began) * 100) / 100,
        ...who(res),
      };
      if (res.err !== undefined || res.statusCode >= 500)
        log.error({ ...line, err: res.err }, 'request failed');
      else if (!res.writableFinished) log.info(line, 'caller has gone');
      else log.info(line, 'request');
    });
    next();
  };

function who(res: Response): object {
  const { principal } = contextOf(res);
  return principal === undefined ? {} : { accountId: principal.accountId, keyId: principal.keyId };
}
