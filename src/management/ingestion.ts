import { Router } from 'express';
import { contextOf } from '../http/context.ts';
import { pick } from '../http/methods.ts';
import { replyToGet } from '../http/reply.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';

const PATH = '/ingestion';

/** `GET /ingestion` below /management/v1: what this process took, left out and refused since its start, by reason. */
export function ingestionRouter(ingestion: Pick<Ingestion, 'stats'>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all(PATH, async (req, res) => {
    contextOf(res).route = PATH;
    pick(new Map([['GET', true]]), req, res);
    await replyToGet(req, res, ingestion.stats());
  });
  return router;
}
