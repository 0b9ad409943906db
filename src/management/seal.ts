import { Router } from 'express';
import { z } from 'zod';
import { appId, isUuid } from '../domain/ids.ts';
import { toIso } from '../domain/time.ts';
import type { Sealer } from '../facts/sealer.ts';
import { replyToGet, replyToPost } from '../http/answer/reply.ts';
import { readJson } from '../http/gate/body.ts';
import { parseBody } from '../http/gate/validate.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';

const BODY_LIMIT = 1024;
export const RebuildBody = z.strictObject({
  appId: z
    .string()
    .refine(isUuid, 'must be a UUID')
    .transform((id) => appId(id))
    .optional(),
});

/**
 * Routes for sealing. `GET /seal` returns how far each app is sealed. `POST /seal/rebuild` with `{ appId? }`
 * deletes the facts of one app, or of all, and builds them again in the background. Answers stay exact
 * meanwhile, from raw rows.
 */
export function sealRouter(sealer: Sealer): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/seal', async (req, res) => {
    contextOf(res).route = '/seal';
    pick(new Map([['GET', true]]), req, res);
    const states = await sealer.states();
    const kindsOf = new Map<string, Record<string, object>>();
    for (const { app, kind, sealedUntil, lagMs } of states) {
      const kinds = kindsOf.get(app) ?? {};
      kinds[kind] = {
        sealedUntil: sealedUntil === 0 ? null : toIso(sealedUntil),
        lagSeconds: lagMs / 1000,
      };
      kindsOf.set(app, kinds);
    }
    const apps = [...kindsOf.keys()].sort().map((app) => ({ appId: app, ...kindsOf.get(app) }));
    await replyToGet(req, res, { ...sealer.health, apps });
  });
  router.all('/seal/rebuild', async (req, res) => {
    contextOf(res).route = '/seal/rebuild';
    pick(new Map([['POST', true]]), req, res);
    const { appId: only } = parseBody(RebuildBody, await readJson(req, res, BODY_LIMIT));
    const apps = await sealer.rebuild(only === undefined ? undefined : [only]);
    replyToPost(req, res, 202, { apps, rebuilding: true });
  });
  return router;
}
