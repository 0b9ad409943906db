import { Router } from 'express';
import { z } from 'zod';
import type { Backups } from '../backup/backups.ts';
import { AppError } from '../domain/errors.ts';
import { isUuid } from '../domain/ids.ts';
import { replyToGet, replyToPost } from '../http/answer/reply.ts';
import { readJson } from '../http/gate/body.ts';
import { parseBody } from '../http/gate/validate.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';

const BODY_LIMIT = 8 * 1024;
export const BackupBody = z.strictObject({
  path: z
    .string()
    .max(1_000, 'Must have at most 1,000 characters.')
    // The path stands in a statement.
    .regex(/^\/[^\\'\p{Cc}]+$/u, 'Must be an absolute path without quotes and backslashes.'),
});
const IdParams = z.strictObject({ id: z.string().refine(isUuid, 'Must be a UUID.') });

/**
 * Routes for backups, below /management/v1. `POST /backups` with `{ path }` begins one: 202. `GET /backups/ID` tells
 * how it goes, as long as this process runs. `GET /backups` has the last one that was made and the last that failed.
 */
export function backupRouter(backups: Pick<Backups, 'begin' | 'get' | 'last'>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/backups', async (req, res) => {
    contextOf(res).route = '/backups';
    const method = pick(
      new Map([
        ['GET', 'GET'],
        ['POST', 'POST'],
      ]),
      req,
      res,
    );
    if (method === 'GET') return replyToGet(req, res, await backups.last());
    const { path } = parseBody(BackupBody, await readJson(req, res, BODY_LIMIT));
    replyToPost(req, res, 202, backups.begin(path));
  });
  router.all('/backups/:id', async (req, res) => {
    contextOf(res).route = '/backups/:id';
    pick(new Map([['GET', true]]), req, res);
    const backup = backups.get(parseBody(IdParams, req.params).id);
    if (backup === null) throw new AppError('not_found', 'This process has made no such backup.');
    await replyToGet(req, res, backup);
  });
  return router;
}
