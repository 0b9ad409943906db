import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Logger } from 'pino';
import type { AnalyticsFrom } from '../analytics/analytics.ts';
import type { Config } from '../config.ts';
import { AppError } from '../domain/errors.ts';
import type { Forgetting } from '../domain/forgetting.ts';
import type { Clock } from '../domain/time.ts';
import type { AnswerSource } from '../http/answer/answers.ts';
import type { ConsoleParts } from '../http/console/console.ts';
import { consoleReference } from '../http/console/openapi.ts';
import { publicLibrary } from '../http/docs/library.ts';
import { docsPages } from '../http/docs/pages.ts';
import type { Bodies } from '../http/forms/bodies.ts';
import { authenticationByKey } from '../http/gate/authenticate.ts';
import type { FailedAttempts } from '../http/gate/failed-attempts.ts';
import { type Overload, shed } from '../http/gate/overload.ts';
import { type Counted, createRateLimit } from '../http/gate/rate-limit.ts';
import type { LocalWindows } from '../http/gate/shared-windows.ts';
import type { LiveHub } from '../http/live/hub.ts';
import { errorHandler } from '../http/request/problem.ts';
import { type HealthDeps, isServicePage, servicePages } from '../http/routes/health.ts';
import { publicApi } from '../http/routes/public-api.ts';
import type { Access, Principal } from '../metadata/types.ts';
import type { RedisLink } from '../redis/link.ts';
import type { ReadBegun } from '../snapshots/begun.ts';
import type { ReadSnapshot } from '../snapshots/snapshots.ts';

export interface AppDeps extends HealthDeps {
  readonly analytics: AnalyticsFrom;
  readonly access: Access;
  readonly config: Pick<Config, 'requestsPerMinute' | 'replicas' | 'answerCacheBytes'>;
  readonly log: Logger;
  readonly clock: Clock;
  /** The machine's clock, by which the rate windows end. */
  readonly wallClock: Clock;
  readonly redis: RedisLink | null;
  readonly windows: LocalWindows;
  readonly failedAttempts: FailedAttempts;
  readonly snapshots: ReadSnapshot;
  readonly begun: ReadBegun;
  readonly onAnswer: (source: AnswerSource) => void;
  readonly onFallback: () => void;
  /** Called for each request that is counted in a key's window. */
  readonly onCounted: (principal: Principal, passes: boolean) => void;
  /** The console's own routes; null without a console. */
  readonly people: ConsoleParts | null;
  /** The site where users make keys. */
  readonly keysSite: () => string | null;
  readonly questionsAtOnce: number;
  readonly overload: Overload;
  readonly live: LiveHub;
  /** Drops cached answers about apps whose data were erased. */
  readonly forgetting: Forgetting;
  /** Bodies of answers, in memory or in files. */
  readonly bodies: Bodies;
  /** Routes of the SDK: its script and its events. */
  readonly sdk: readonly Router[];
}

/**
 * Creates the public listener's application. Serve it with `createHttpServer`, which gives a request its id.
 */
export function createApp({ config, log, redis, sdk, overload, people, ...deps }: AppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.disable('query parser');
  app.enable('case sensitive routing');
  app.enable('strict routing');

  app.use(refuseDamaged(deps.damage));
  // The most frequent requests first: each step costs time.
  const api = publicApi({ ...deps, ...config, overload });
  const limit = createRateLimit({ ...deps, ...config, redis });
  const count = async (principal: Principal): Promise<Counted> => {
    const counted = await limit(principal.keyId);
    deps.onCounted(principal, counted.passes);
    return counted;
  };
  app.use(api({ below: '', authentication: authenticationByKey(deps), count }));
  if (people !== null) {
    app.use(api({ ...people, below: '/dashboard' }));
    app.use(api(people.links));
    app.use(people.router);
  }
  app.use(servicePages(deps));
  app.use(docsPages(publicLibrary(people === null ? [] : [consoleReference()])));
  app.use(shed(overload));
  for (const router of sdk) app.use(router);
  app.use(() => {
    throw new AppError('not_found', 'There is nothing at this path.');
  });
  app.use(errorHandler({ log, clock: deps.clock }));
  return app;
}

/** Refuses everything but the health pages while the store is damaged. */
const refuseDamaged =
  (damage: () => string | null): RequestHandler =>
  (req, _res, next) => {
    if (damage() !== null && !isServicePage(req)) {
      throw new AppError('store_unavailable', 'The store is damaged. Its operator is told what to do.', {
        retryAfterSeconds: 60,
      });
    }
    next();
  };

/** Creates the public listener's application for a store that is damaged from the start. */
export function createRefusingApp(deps: HealthDeps & Pick<AppDeps, 'damage' | 'log' | 'clock'>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.disable('query parser');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(refuseDamaged(deps.damage));
  app.use(servicePages(deps));
  app.use(errorHandler({ log: deps.log, clock: deps.clock }));
  return app;
}
