import express, { type Request, type Response, type Router } from 'express';
import type { z } from 'zod';
import { replyToGet, replyToPost } from '../http/answer/reply.ts';
import { readJson } from '../http/gate/body.ts';
import { parseBody as parse } from '../http/gate/validate.ts';
import { contextOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';
import type { Metadata } from '../metadata/metadata.ts';
import {
  AccountBody,
  AccountParams,
  AppBody,
  AppParams,
  ExclusionsBody,
  KeyBody,
  KeyParams,
  NameBody,
  PlanBody,
  RetentionBody,
  RotateKeyBody,
  RotateSecretBody,
  ShareParams,
} from './schemas.ts';
import { mayBeSilent } from './silence.ts';

const MAX_BODY = 100 * 1024;

type Handler = (req: Request, res: Response) => Promise<void>;
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Accounts, keys, apps and shares below /management/v1. */
export function metadataRouter(metadata: Metadata): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const [path, handlers] of Object.entries(routes(metadata))) {
    const byMethod = new Map(Object.entries(handlers));
    router.all(path, async (req, res) => {
      contextOf(res).route = path;
      await pick(byMethod, req, res)(req, res);
    });
  }
  return router;
}

const routes = (metadata: Metadata): Readonly<Record<string, { readonly [M in Method]?: Handler }>> => ({
  '/accounts': {
    GET: async (req, res) => replyToGet(req, res, await metadata.listAccounts()),
    POST: async (req, res) => {
      const account = await metadata.createAccount(await bodyOf(req, res, AccountBody));
      replyToPost(req, res, 201, account);
    },
  },
  '/accounts/:accountId': {
    DELETE: async (req, res) => {
      const { accountId } = parse(AccountParams, req.params);
      mayBeSilent(req);
      await metadata.deleteAccount(accountId);
      replyToPost(req, res, 200, { accountId, deleted: true });
    },
  },
  '/accounts/:accountId/name': {
    PUT: async (req, res) => {
      const { accountId } = parse(AccountParams, req.params);
      const { name } = await bodyOf(req, res, NameBody);
      replyToPost(req, res, 200, await metadata.renameAccount(accountId, name));
    },
  },
  '/accounts/:accountId/shares': {
    GET: async (req, res) => {
      const { accountId: account } = parse(AccountParams, req.params);
      await replyToGet(req, res, await metadata.listShares({ account }));
    },
  },
  '/accounts/:accountId/plan': {
    PUT: async (req, res) => {
      const { accountId } = parse(AccountParams, req.params);
      const { plan } = await bodyOf(req, res, PlanBody);
      replyToPost(req, res, 200, await metadata.setPlan(accountId, plan));
    },
  },
  '/accounts/:accountId/keys': {
    GET: async (req, res) => {
      await replyToGet(req, res, await metadata.listKeys(parse(AccountParams, req.params).accountId));
    },
    POST: async (req, res) => {
      const { accountId } = parse(AccountParams, req.params);
      const { name, expiresAt } = await bodyOf(req, res, KeyBody);
      const key = { expiresAt, ...(name === undefined ? {} : { name }) };
      replyToPost(req, res, 201, await metadata.createKey(accountId, key));
    },
  },
  '/accounts/:accountId/apps': {
    GET: async (req, res) => {
      await replyToGet(req, res, await metadata.appsOfAccount(parse(AccountParams, req.params).accountId));
    },
    POST: async (req, res) => {
      const { accountId } = parse(AccountParams, req.params);
      replyToPost(req, res, 201, await metadata.addApp(accountId, await bodyOf(req, res, AppBody)));
    },
  },
  '/keys/:keyId/rotate': {
    POST: async (req, res) => {
      const { keyId } = parse(KeyParams, req.params);
      const { overlapSeconds, expiresAt } = await bodyOf(req, res, RotateKeyBody);
      const rotation = { overlapMs: overlapSeconds * 1000, expiresAt };
      replyToPost(req, res, 201, await metadata.rotateKey(keyId, rotation));
    },
  },
  '/keys/:keyId/revoke': {
    POST: async (req, res) => {
      replyToPost(req, res, 200, await metadata.revokeKey(parse(KeyParams, req.params).keyId));
    },
  },
  '/apps': { GET: async (req, res) => replyToGet(req, res, await metadata.allApps()) },
  '/shares': { GET: async (req, res) => replyToGet(req, res, await metadata.listShares()) },
  '/apps/:appId/shares': {
    GET: async (req, res) => {
      const { appId: app } = parse(AppParams, req.params);
      await replyToGet(req, res, await metadata.listShares({ app }));
    },
  },
  '/apps/:appId/rotate-secret': {
    POST: async (req, res) => {
      const { appId } = parse(AppParams, req.params);
      const { overlapSeconds } = await bodyOf(req, res, RotateSecretBody);
      const rotation = { overlapMs: overlapSeconds * 1000 };
      replyToPost(req, res, 201, await metadata.rotateSecret(appId, rotation));
    },
  },
  '/apps/:appId/retention': {
    GET: async (req, res) => {
      await replyToGet(req, res, await metadata.retentionOf(parse(AppParams, req.params).appId));
    },
    PUT: async (req, res) => {
      const { appId } = parse(AppParams, req.params);
      const { days } = await bodyOf(req, res, RetentionBody);
      replyToPost(req, res, 200, await metadata.setRetention(appId, days));
    },
  },
  '/apps/:appId/excluded-addresses': {
    GET: async (req, res) => {
      await replyToGet(req, res, await metadata.exclusionsOf(parse(AppParams, req.params).appId));
    },
    PUT: async (req, res) => {
      const { appId } = parse(AppParams, req.params);
      const { addresses } = await bodyOf(req, res, ExclusionsBody);
      replyToPost(req, res, 200, await metadata.setExclusions(appId, addresses));
    },
  },
  '/apps/:appId': {
    DELETE: async (req, res) => {
      const { appId } = parse(AppParams, req.params);
      mayBeSilent(req);
      await metadata.deleteApp(appId);
      replyToPost(req, res, 200, { appId, deleted: true });
    },
  },
  '/apps/:appId/shares/:accountId': {
    PUT: async (req, res) => {
      const { appId, accountId } = parse(ShareParams, req.params);
      await metadata.shareApp(appId, accountId);
      replyToPost(req, res, 200, { appId, accountId, shared: true });
    },
    DELETE: async (req, res) => {
      const { appId, accountId } = parse(ShareParams, req.params);
      await metadata.unshareApp(appId, accountId);
      replyToPost(req, res, 200, { appId, accountId, shared: false });
    },
  },
});

/** A request without a body counts as one without fields. */
async function bodyOf<T>(req: Request, res: Response, schema: z.ZodType<T>): Promise<T> {
  const { 'content-length': length = '0', 'transfer-encoding': chunked } = req.headers;
  const isEmpty = length === '0' && chunked === undefined;
  return parse(schema, isEmpty ? {} : await readJson(req, res, MAX_BODY));
}
