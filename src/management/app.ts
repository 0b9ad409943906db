import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Logger } from 'pino';
import { AppError } from '../domain/errors.ts';
import type { Clock } from '../domain/time.ts';
import { docsPages } from '../http/docs/pages.ts';
import { best, typeWeight, weighted } from '../http/forms/forms.ts';
import { errorHandler } from '../http/request/problem.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { METRICS_FORMATS, type Metrics } from '../metrics/metrics.ts';
import { managementLibrary } from './library.ts';
import { metadataRouter } from './routes.ts';
import { isManagementToken } from './token.ts';

export interface ManagementDeps {
  readonly metadata: Metadata;
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** More routers below /management/v1, behind the same token. Each parses its own bodies. */
  readonly routers: readonly Router[];
}

/**
 * Creates the management listener's application. Every request but those for /metrics and the reference needs a JWT
 * signed with `jwtSecret`. Serve it with `createHttpServer`, which gives a request its id.
 */
export function createManagementApp({
  metadata,
  jwtSecret,
  clock,
  log,
  metrics,
  routers,
}: ManagementDeps): Express {
  return managementAppOf({ jwtSecret, clock, log, metrics, routers: [metadataRouter(metadata), ...routers] });
}

/** The same with other routers alone. */
export function managementAppOf({
  jwtSecret,
  clock,
  log,
  metrics,
  routers,
}: Omit<ManagementDeps, 'metadata'>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.disable('query parser');
  app.enable('case sensitive routing');
  app.enable('strict routing');

  // Scrapers have no token. The metrics name no account, app or visitor.
  app.get('/metrics', async ({ headers: { accept = '*/*' } }, res) => {
    const ranges = weighted(accept);
    const format = best(METRICS_FORMATS, (type) => typeWeight(ranges, type)) ?? METRICS_FORMATS[0];
    const { contentType, text } = await metrics.text(format);
    res.setHeader('Content-Type', contentType);
    res.setHeader('Vary', 'Accept');
    res.end(text);
  });
  // The reference tells of the operations, and nothing of this installation.
  app.use(docsPages(managementLibrary()));
  app.use(requireToken(jwtSecret, clock));
  for (const router of routers) app.use('/management/v1', router);
  app.use(() => {
    throw new AppError('not_found', 'There is nothing at this path.');
  });
  app.use(errorHandler({ log, clock, isForOperator: true }));
  return app;
}

const requireToken =
  (secret: string, clock: Clock): RequestHandler =>
  async (req, _res, next) => {
    const [header = '', ...more] = req.headersDistinct['authorization'] ?? [];
    const [, token = ''] = /^Bearer +([\w.-]+)$/i.exec(header) ?? [];
    if (more.length > 0 || !(await isManagementToken(token, secret, clock))) {
      throw new AppError(
        'unauthorized',
        'A valid management token is needed: a JWT signed with HS256 that expires.',
      );
    }
    next();
  };
