import { Router } from 'express';
import { AppError } from '../../domain/errors.ts';
import type { AppId } from '../../domain/ids.ts';
import { linkId } from '../../domain/ids.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { Principal } from '../../metadata/types.ts';
import { replyToPost } from '../answer/reply.ts';
import { authenticationByBearer } from '../gate/authenticate.ts';
import type { FailedAttempts } from '../gate/failed-attempts.ts';
import { announce, type Counted, type RateLimit } from '../gate/rate-limit.ts';
import { contextOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';
import type { LinkAnswer } from './schemas.ts';

/** Where the API of links is. The session's cookie is for /dashboard alone, so it never comes along. */
export const SHARED = '/shared';
const LINK = `${SHARED}/api/link`;

export interface SharedDeps {
  readonly metadata: Pick<Metadata, 'links' | 'listApps'>;
  readonly failedAttempts: FailedAttempts;
  /** Counts a request of a link. */
  readonly countLink: RateLimit;
}

/** What somebody who opened a link may ask, by the link's token: which app it shows, and the app's analytics. */
export function sharedAnalytics({ metadata, failedAttempts, countLink }: SharedDeps) {
  const authentication = authenticationByBearer({
    find: metadata.links.authenticate,
    failedAttempts,
    // One body, whatever the reason is.
    refusal: () => new AppError('unauthorized', 'This link does not work. Ask for a new one.'),
  });
  const count = (caller: Principal): Promise<Counted> => countLink(`link ${caller.keyId}`);
  const router = Router({ caseSensitive: true, strict: true });
  const answer = async (account: Principal['accountId'], app: AppId, id: string): Promise<LinkAnswer> => {
    const [apps, link] = await Promise.all([metadata.listApps(account), metadata.links.find(linkId(id))]);
    const found = apps.find((each) => each.id === app);
    // It has ended just now.
    if (found === undefined || link === null) throw new AppError('not_found', 'The link has ended.');
    return { appId: app, appName: found.name, segment: link.segment, expiresAt: link.expiresAt };
  };
  router.all(LINK, async (req, res) => {
    contextOf(res).route = LINK;
    const caller = await authentication.authenticate(req);
    contextOf(res).principal = caller;
    announce(res, await count(caller));
    pick(new Map([['GET', true]]), req, res);
    replyToPost(req, res, 200, await answer(caller.accountId, caller.only.app, caller.keyId));
  });
  return { router, mount: { below: SHARED, authentication, count, isTimingShown: false } };
}
