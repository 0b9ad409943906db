import { type Request, type Response, Router } from 'express';
import { replyToPost } from '../answer/reply.ts';
import { announce, type RateLimit } from '../gate/rate-limit.ts';
import { contextOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';
import type { Handlers, HandlersDeps } from './handler.ts';
import { handlersOf } from './handlers.ts';
import type { Oidc } from './oidc.ts';

const PREFIX = '/dashboard/api';

export interface ConsoleRoutesDeps extends Omit<HandlersDeps, 'hasOidc' | 'attempt'> {
  readonly oidc: Oidc | null;
  /** Counts an attempt to sign in, by address. */
  readonly countAttempt: RateLimit;
}

/** Serves the console's own API below /dashboard/api: everything but the analytics, which the Public API answers. */
export function consoleRoutes({ oidc, countAttempt, ...deps }: ConsoleRoutesDeps): Router {
  const attemptTo =
    (what: string) =>
    async (req: Request, res: Response): Promise<void> =>
      announce(res, await countAttempt(`${what} ${req.address}`));
  const attempt = attemptTo('sign-in');
  const router = routerOf(handlersOf({ ...deps, attempt, hasOidc: oidc !== null }));
  // A sign-in by OpenID Connect takes two requests, and is one attempt.
  const attempts = { begin: attempt, finish: attemptTo('sign-in answered') };
  if (oidc !== null) oidc.addRoutes(router, `${PREFIX}/sign-in/oidc`, attempts);
  return router;
}

type Handler = (req: Request, res: Response) => Promise<unknown>;

function routerOf(handlers: Handlers): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const byPath = new Map<string, Map<string, Handler>>();
  for (const [name, handler] of Object.entries(handlers) as [string, Handler][]) {
    const [method = '', path = ''] = name.split(' ');
    const methods = byPath.get(path) ?? new Map();
    byPath.set(path, methods.set(method, handler));
  }
  for (const [path, methods] of byPath) {
    router.all(`${PREFIX}${path}`, async (req, res) => {
      contextOf(res).route = `${PREFIX}${path}`;
      const answer = await pick(methods, req, res)(req, res);
      const isNew = typeof answer === 'object' && answer !== null && 'created' in answer;
      replyToPost(req, res, isNew ? 201 : 200, isNew ? answer.created : answer);
    });
  }
  return router;
}
