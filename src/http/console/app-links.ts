import type { Metadata } from '../../metadata/metadata.ts';
import { actorOf } from '../../metadata/sessions.ts';
import { parseBody as parse } from '../gate/validate.ts';
import { ownApp } from './account.ts';
import { AppPath, LinkPath, NewLinkBody, OriginsBody } from './bodies.ts';
import { bodyOf, type Callers, type Handlers } from './handler.ts';

type LinkRoute = Extract<keyof Handlers, `${string} /apps/:appId/links${string}`>;

/** The links of an app, which its owner makes and ends. */
export function ofLinks(metadata: Metadata, { reader, owner }: Callers): Handlers<LinkRoute> {
  return {
    'GET /apps/:appId/links': async (req, res) => {
      const { account } = await reader(req, res);
      const { appId } = parse(AppPath, req.params);
      await ownApp(metadata, account, appId);
      return metadata.links.list(appId);
    },
    'POST /apps/:appId/links': async (req, res) => {
      const session = await owner(req, res);
      const { appId } = parse(AppPath, req.params);
      await ownApp(metadata, session.account, appId);
      const link = await bodyOf(req, res, NewLinkBody);
      return { created: await metadata.by(actorOf(session)).createLink(appId, link) };
    },
    'PUT /apps/:appId/links/:linkId/origins': async (req, res) => {
      const session = await owner(req, res);
      const { appId, linkId } = parse(LinkPath, req.params);
      await ownApp(metadata, session.account, appId);
      const { origins } = await bodyOf(req, res, OriginsBody);
      return metadata.by(actorOf(session)).setLinkOrigins(appId, linkId, origins);
    },
    'POST /apps/:appId/links/:linkId/revoke': async (req, res) => {
      const session = await owner(req, res);
      const { appId, linkId } = parse(LinkPath, req.params);
      await ownApp(metadata, session.account, appId);
      return metadata.by(actorOf(session)).revokeLink(appId, linkId);
    },
  };
}
