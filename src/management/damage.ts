import { Router } from 'express';
import type { Damage } from '../damage/watch.ts';
import { replyToGet, replyToPost } from '../http/answer/reply.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';
import { mayBeSilent } from './silence.ts';

/**
 * Routes for damaged parts of the store, below /management/v1. `GET /damage` lists them. `POST /damage/accept` accepts
 * their loss: a service that refuses to answer because of them goes on without them.
 */
export function damageRouter(damage: Damage): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/damage', async (req, res) => {
    contextOf(res).route = '/damage';
    pick(new Map([['GET', true]]), req, res);
    const parts = damage.parts.map(({ table, part, bytes, loss }) => ({ table, part, bytes, loss }));
    await replyToGet(req, res, { message: damage.message, parts });
  });
  router.all('/damage/accept', async (req, res) => {
    contextOf(res).route = '/damage/accept';
    pick(new Map([['POST', true]]), req, res);
    mayBeSilent(req);
    const parts = await damage.accept();
    replyToPost(req, res, 200, { lost: parts.map(({ table, part, loss }) => ({ table, part, loss })) });
  });
  return router;
}
