import express, { type Request, type Response, type Router } from 'express';
import type { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { readJson } from '../http/body.ts';
import { replyToGet, replyToPost } from '../http/reply.ts';
import type { Metadata } from '../metadata/metadata.ts';
import {
  AccountBody,
  AccountParams,
  AppParams,
  KeyBody,
  KeyParams,
  PlanBody,
  parse,
  RotateKeyBody,
  RotateSecretBody,
  ShareParams,
} from './schemas.ts';

const MAX_BODY = 100 * 1024;
const SECOND_MS = MINUTE_MS / 60;

type Handler = (req: Request, res: Response) => Promise<void>;
type Method = 'get' | 'post' | 'put' | 'delete';
type Methods = { readonly [M in Method]?: Handler };

/** Accounts, keys, apps and shares below /management/v1. */
export function metadataRouter(metadata: Metadata): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const [path, methods] of Object.entries(routes(metadata))) mount(router, path, methods);
  return router;
}

const routes = (metadata: Metadata): Readonly<Record<string, Methods>> => ({
  '/accounts': {
    get: async (req, res) => replyToGet(req, res, await metadata.listAccounts()),
    post: async (req, res) => {
      const account = await metadata.createAccount(await bodyOf(req, res, AccountBody));
      replyToPost(req, res, 201, account);
    },
  },
  '/accounts/:accountId/plan': {
    put: async (req, res) => {
      const { accountId } = parse(AccountParams, req.params);
      const { plan } = await bodyOf(req, res, PlanBody);
      replyToPost(req, res, 200, await metadata.setPlan(accountId, plan));
    },
  },
  '/accounts/:accountId/keys': {
    get: async (req, res) => {
      replyToGet(req, res, await metadata.listKeys(parse(AccountParams, req.params).accountId));
    },
    post: async (req, res) => {
      const { accountId } = parse(AccountParams, req.params);
      replyToPost(req, res, 201, await metadata.createKey(accountId, await bodyOf(req, res, KeyBody)));
    },
  },
  '/accounts/:accountId/apps': {
    get: async (req, res) => {
      replyToGet(req, res, await metadata.appsOfAccount(parse(AccountParams, req.params).accountId));
    },
  },
  '/keys/:keyId/rotate': {
    post: async (req, res) => {
      const { keyId } = parse(KeyParams, req.params);
      const { overlapSeconds, expiresAt } = await bodyOf(req, res, RotateKeyBody);
      const rotation = { overlapMs: overlapSeconds * SECOND_MS, expiresAt };
      replyToPost(req, res, 201, await metadata.rotateKey(keyId, rotation));
    },
  },
  '/keys/:keyId/revoke': {
    post: async (req, res) => {
      replyToPost(req, res, 200, await metadata.revokeKey(parse(KeyParams, req.params).keyId));
    },
  },
  '/apps/:appId/rotate-secret': {
    post: async (req, res) => {
      const { appId } = parse(AppParams, req.params);
      const { overlapSeconds } = await bodyOf(req, res, RotateSecretBody);
      const rotation = { overlapMs: overlapSeconds * SECOND_MS };
      replyToPost(req, res, 201, await metadata.rotateSecret(appId, rotation));
    },
  },
  '/apps/:appId': {
    delete: async (req, res) => {
      const { appId } = parse(AppParams, req.params);
      await metadata.deleteApp(appId);
      replyToPost(req, res, 200, { appId, deleted: true });
    },
  },
  '/apps/:appId/shares/:accountId': {
    put: async (req, res) => {
      const { appId, accountId } = parse(ShareParams, req.params);
      await metadata.shareApp(appId, accountId);
      replyToPost(req, res, 200, { appId, accountId, shared: true });
    },
    delete: async (req, res) => {
      const { appId, accountId } = parse(ShareParams, req.params);
      await metadata.unshareApp(appId, accountId);
      replyToPost(req, res, 200, { appId, accountId, shared: false });
    },
  },
});

function mount(router: Router, path: string, methods: Methods): void {
  const route = router.route(path);
  const { get, post, put, delete: remove } = methods;
  if (get) route.get(get);
  if (post) route.post(post);
  if (put) route.put(put);
  if (remove) route.delete(remove);
  const allowed = [
    ...(get ? ['GET', 'HEAD'] : []),
    ...(post ? ['POST'] : []),
    ...(put ? ['PUT'] : []),
    ...(remove ? ['DELETE'] : []),
  ];
  route.all((_req, res) => {
    res.setHeader('Allow', allowed.join(', '));
    throw new AppError('method_not_allowed', `Allowed here: ${allowed.join(', ')}.`);
  });
}

/** A request without a body is one without fields. */
async function bodyOf<T>(req: Request, res: Response, schema: z.ZodType<T>): Promise<T> {
  const { 'content-length': length = '0', 'transfer-encoding': chunked } = req.headers;
  const isEmpty = length === '0' && chunked === undefined;
  return parse(schema, isEmpty ? {} : await readJson(req, res, MAX_BODY));
}
