import { type Request, type Response, Router } from 'express';
import { AppError } from '../domain/errors.ts';
import { replyToGet, replyToPost } from '../http/answer/reply.ts';
import { readJson } from '../http/gate/body.ts';
import { parseBody as parse } from '../http/gate/validate.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { AccountParams, LinkBody, MemberParams, RoleBody } from './schemas.ts';

const BODY_LIMIT = 1024;

export interface PeopleDeps {
  readonly metadata: Metadata;
  /** The console's address; null without a console. */
  readonly consoleUrl: () => string | null;
}

type Handler = (req: Request, res: Response) => Promise<void>;

/**
 * Routes for people and the audit, below /management/v1:
 *
 * - `POST /accounts/ID/sign-in-link` with `{ email? }` makes a link that signs in once, within 10 minutes.
 * - `DELETE /accounts/ID/sessions` signs everybody of the account out.
 * - `GET /accounts/ID/members`, `PUT` and `DELETE /accounts/ID/members/EMAIL` are for its members.
 * - `GET /audit` and `GET /accounts/ID/audit` list the deeds, with the people and keys that did them.
 */
export function peopleRouter({ metadata, consoleUrl }: PeopleDeps): Router {
  const accountOf = (req: Request) => parse(AccountParams, req.params).accountId;
  const routes: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
    '/accounts/:accountId/sign-in-link': {
      POST: async (req, res) => {
        const account = accountOf(req);
        const { email = '' } = parse(LinkBody, await readJson(req, res, BODY_LIMIT));
        const url = consoleUrl();
        if (url === null) throw new AppError('not_found', 'The console is off: DASHBOARD=off.');
        const { token, expiresAt } = await metadata.createSignInLink(account, email);
        // In the fragment, which no server and no log sees.
        replyToPost(req, res, 201, { url: `${url}/dashboard/sign-in#${token}`, expiresAt });
      },
    },
    '/accounts/:accountId/sessions': {
      DELETE: async (req, res) => replyToPost(req, res, 200, await metadata.endSessions(accountOf(req))),
    },
    '/accounts/:accountId/members': {
      GET: async (req, res) => replyToGet(req, res, await metadata.listMembers(accountOf(req))),
    },
    '/accounts/:accountId/members/:email': {
      PUT: async (req, res) => {
        const { accountId, email } = parse(MemberParams, req.params);
        const { role } = parse(RoleBody, await readJson(req, res, BODY_LIMIT));
        replyToPost(req, res, 200, await metadata.setMember(accountId, email, role));
      },
      DELETE: async (req, res) => {
        const { accountId, email } = parse(MemberParams, req.params);
        await metadata.removeMember(accountId, email);
        replyToPost(req, res, 200, { accountId, email, removed: true });
      },
    },
    '/audit': { GET: async (req, res) => replyToGet(req, res, await metadata.listAudit(null)) },
    '/accounts/:accountId/audit': {
      GET: async (req, res) => replyToGet(req, res, await metadata.listAudit(accountOf(req))),
    },
  };
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, handlers] of Object.entries(routes)) {
    const byMethod = new Map(Object.entries(handlers));
    router.all(path, async (req, res) => {
      contextOf(res).route = path;
      await pick(byMethod, req, res)(req, res);
    });
  }
  return router;
}
