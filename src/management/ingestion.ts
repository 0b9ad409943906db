import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { isUuid } from '../domain/ids.ts';
import { replyToGet, replyToPost } from '../http/answer/reply.ts';
import { parseBody } from '../http/gate/validate.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';

export const IdParams = z.strictObject({ id: z.string().refine(isUuid, 'must be a UUID') });

type Handler = (req: Request, res: Response) => Promise<void>;

/**
 * Routes for ingestion, below /management/v1:
 *
 * - `GET /ingestion` counts the accepted, rejected and refused events since this process's start, by reason.
 * - `POST /ingestion/repeat` repeats the flushes that are held, and returns the same.
 * - `GET /ingestion/set-aside` lists the batches that the store refused alone.
 * - `POST /ingestion/set-aside/ID/repeat` stores one of them, `DELETE /ingestion/set-aside/ID` drops it.
 */
export function ingestionRouter({
  stats,
  sweep,
  setAside,
}: Pick<Ingestion, 'stats' | 'sweep' | 'setAside'>): Router {
  const idOf = (req: Request): string => parseBody(IdParams, req.params).id;
  const routes: Readonly<Record<string, readonly [method: string, handler: Handler]>> = {
    '/ingestion': ['GET', (req, res) => replyToGet(req, res, stats())],
    '/ingestion/repeat': [
      'POST',
      async (req, res) => {
        await sweep();
        replyToPost(req, res, 200, stats());
      },
    ],
    '/ingestion/set-aside': ['GET', async (req, res) => replyToGet(req, res, await setAside.list())],
    '/ingestion/set-aside/:id/repeat': [
      'POST',
      async (req, res) => replyToPost(req, res, 200, await setAside.repeat(idOf(req))),
    ],
    '/ingestion/set-aside/:id': [
      'DELETE',
      async (req, res) => {
        const id = idOf(req);
        await setAside.drop(id);
        replyToPost(req, res, 200, { id, dropped: true });
      },
    ],
  };
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, [method, handler]] of Object.entries(routes)) {
    router.all(path, async (req, res) => {
      contextOf(res).route = path;
      await pick(new Map([[method, handler]]), req, res)(req, res);
    });
  }
  return router;
}
