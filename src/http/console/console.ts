import { Router } from 'express';
import type { ConsoleConfig } from '../../config.ts';
import type { LinkId } from '../../domain/ids.ts';
import { once } from '../../domain/once.ts';
import type { Clock } from '../../domain/time.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { Principal } from '../../metadata/types.ts';
import type { Authentication } from '../gate/authenticate.ts';
import type { FailedAttempts } from '../gate/failed-attempts.ts';
import { type Counted, createRateLimit, type RateLimitDeps } from '../gate/rate-limit.ts';
import { SignedCookies } from './cookies.ts';
import { Oidc } from './oidc.ts';
import { consolePages } from './pages.ts';
import { People, windowOfCaller } from './people.ts';
import { consoleRoutes } from './routes.ts';
import { sharedAnalytics } from './shared.ts';

/** A page with all panels asks a dozen questions, and streams each of them. */
const SESSION_REQUESTS_PER_MINUTE = 1_200;
/** Of all people together who opened one link. */
const LINK_REQUESTS_PER_MINUTE = 3_600;
const ATTEMPTS_PER_MINUTE = 10;

export interface ConsoleDeps extends RateLimitDeps {
  readonly config: ConsoleConfig;
  readonly metadata: Metadata;
  readonly failedAttempts: FailedAttempts;
  readonly clock: Clock;
  readonly dashboardUrl: string | null;
}

/** The console's server side, and its pages. */
export interface ConsoleParts {
  readonly router: Router;
  readonly authentication: Authentication;
  /** Counts a request in its caller's window. */
  readonly count: (caller: Principal) => Promise<Counted>;
  /** Where people ask who opened a link. */
  readonly links: ReturnType<typeof sharedAnalytics>['mount'];
}

export function createConsole(deps: ConsoleDeps): ConsoleParts {
  const { config, metadata, dashboardUrl, failedAttempts, clock, requestsPerMinute } = deps;
  const cookies = once(
    async () => new SignedCookies(config.secret ?? (await metadata.sessions.secret()), clock),
  );
  const people = new People({ metadata, cookies, dashboardUrl });
  const oidc =
    config.oidc === null ? null : new Oidc({ config: config.oidc, metadata, people, cookies, dashboardUrl });
  const count = createRateLimit({ ...deps, requestsPerMinute: SESSION_REQUESTS_PER_MINUTE });
  const countAttempt = createRateLimit({ ...deps, requestsPerMinute: ATTEMPTS_PER_MINUTE });
  const routes = { metadata, people, oidc, count, countAttempt, failedAttempts, requestsPerMinute, clock };
  const router = Router({ caseSensitive: true, strict: true });
  const countLink = createRateLimit({ ...deps, requestsPerMinute: LINK_REQUESTS_PER_MINUTE });
  const shared = sharedAnalytics({ metadata, failedAttempts, countLink });
  const originsOf = async (link: LinkId) => (await metadata.links.find(link))?.origins ?? [];
  router.use(consoleRoutes(routes), shared.router, consolePages(originsOf));
  return {
    router,
    authentication: people,
    count: (caller) => count(windowOfCaller(caller)),
    links: shared.mount,
  };
}
