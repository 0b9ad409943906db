import { Router } from 'express';
import { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import { replyToPost } from '../http/answer/reply.ts';
import { readJson } from '../http/gate/body.ts';
import { parseBody } from '../http/gate/validate.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';
import { countEvents } from '../ingestion/wire.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { AppParams } from './schemas.ts';

const PATH = '/apps/:appId/import';
const BODY_LIMIT = 16 * 1024 ** 2;
/** The most events of one insert. */
const MAX_EVENTS = 40_000;

/** Sessions as a batch of the SDK has them, or visits of an access log in the same form. */
export const ImportBody = z.strictObject({ sessions: z.array(z.unknown()), visits: z.boolean().optional() });

export interface ImportDeps {
  readonly metadata: Pick<Metadata, 'findApp'>;
  readonly ingestion: Pick<Ingestion, 'importHistory'>;
}

/**
 * Routes for imports. `POST /apps/{appId}/import` below /management/v1 takes `{ sessions }`, with items as in
 * a batch of the SDK. An event has an `occurrence` if equal events came before it. With `visits: true` the items are
 * visits of an access log: the stored requests decide where sessions begin, and an event has a `referrer` if it is
 * another one than the visit's. The answer counts the stored events and the duplicates.
 */
export function importRouter({ metadata, ingestion }: ImportDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all(PATH, async (req, res) => {
    contextOf(res).route = PATH;
    pick(new Map([['POST', true]]), req, res);
    const { appId } = parseBody(AppParams, req.params);
    const { sessions, visits } = parseBody(ImportBody, await readJson(req, res, BODY_LIMIT));
    if (countEvents(sessions) > MAX_EVENTS) {
      const errors = [{ field: 'sessions', message: `At most ${MAX_EVENTS} events at once.` }];
      throw new AppError('validation_failed', 'Too many events at once.', { errors });
    }
    const app = await metadata.findApp(appId);
    if (app === null) throw new AppError('not_found', 'There is no app with this id.');
    replyToPost(req, res, 200, await ingestion.importHistory(app, sessions, visits ? 'visits' : 'sessions'));
  });
  return router;
}
