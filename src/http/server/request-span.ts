import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { Span } from '../../domain/tracing.ts';
import { contextOf } from '../request/context.ts';
import { statusOf } from './request-log.ts';

/** Ends the span of a request when its answer has been sent, or its caller has gone. */
export function endWithAnswer(span: Span, req: IncomingMessage, res: ServerResponse): void {
  res.once('close', () => {
    const { route, principal, app } = contextOf(res as Response) ?? {};
    const method = req.method ?? '';
    span.end({
      name: route === undefined ? method : `${method} ${route}`,
      attributes: {
        'http.request.method': method,
        'http.response.status_code': statusOf(res),
        'client.address': req.address,
        'analytics.request_id': req.id,
        ...(route === undefined ? {} : { 'http.route': route }),
        ...(principal === undefined ? {} : { 'analytics.account_id': principal.accountId }),
        ...(app === undefined ? {} : { 'analytics.app_id': app }),
      },
      error: res.statusCode < 500 ? undefined : (res.err ?? new Error(String(res.statusCode))),
    });
  });
}
