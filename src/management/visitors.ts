import { Router } from 'express';
import type { Erasures } from '../erasure/erasures.ts';
import { replyToPost } from '../http/answer/reply.ts';
import { readJson } from '../http/gate/body.ts';
import { parseBody } from '../http/gate/validate.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { AppParams, VisitorBody } from './schemas.ts';
import { mayBeSilent } from './silence.ts';

const PATH = '/apps/:appId/visitor-erasures';
const BODY_LIMIT = 1024;
/** The actor of the management API in the audit. */
const OPERATOR = 'operator';

export interface VisitorDeps {
  readonly metadata: Pick<Metadata, 'moving'>;
  readonly erasures: Pick<Erasures, 'erase'>;
}

/**
 * `POST /apps/{appId}/visitor-erasures` with `{ visitorId }`, below /management/v1, erases a visitor. The id is in the
 * body, because the log and the audit keep paths. Neither keeps the id.
 */
export function visitorRouter({ metadata: { moving }, erasures }: VisitorDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all(PATH, async (req, res) => {
    contextOf(res).route = PATH;
    pick(new Map([['POST', true]]), req, res);
    const { id: appId, account, domain } = await moving.moved(parseBody(AppParams, req.params).appId);
    const { visitorId } = parseBody(VisitorBody, await readJson(req, res, BODY_LIMIT));
    mayBeSilent(req);
    const deed = {
      account,
      actor: OPERATOR,
      action: 'visitor.erase',
      subject: appId,
      details: { domain },
    } as const;
    await moving.recorded(deed, () => erasures.erase(appId, visitorId));
    replyToPost(req, res, 200, { appId, erased: true });
  });
  return router;
}
