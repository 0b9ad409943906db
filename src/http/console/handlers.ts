import { AppError } from '../../domain/errors.ts';
import { KeyBody } from '../../management/schemas.ts';
import { actorOf, isBound } from '../../metadata/sessions.ts';
import { parseBody as parse } from '../gate/validate.ts';
import { assertOwnKey, ownApp, sessionAnswer, usageAnswer } from './account.ts';
import { ofLinks } from './app-links.ts';
import {
  AccountBody,
  AppPath,
  DeletionBody,
  ExclusionsBody,
  KeyPath,
  LinkBody,
  NamedRetentionBody,
  RotateKeyBody,
  RotateSecretBody,
  SharePath,
} from './bodies.ts';
import { bodyOf, type Callers, callersOf, type Handlers, type HandlersDeps } from './handler.ts';
import { ofMembers } from './members.ts';
import { ofSegments } from './segments.ts';

export function handlersOf(deps: HandlersDeps): Handlers {
  const callers = callersOf(deps);
  const { metadata, clock, requestsPerMinute } = deps;
  const { reader } = callers;
  return {
    ...ofSessions(deps, callers),
    ...ofKeys(deps, callers),
    ...ofApps(deps, callers),
    ...ofLinks(metadata, callers),
    ...ofMembers(metadata, callers),
    ...ofSegments(deps, callers),
    'GET /usage': async (req, res) =>
      usageAnswer(metadata, (await reader(req, res)).account, { now: clock(), requestsPerMinute }),
    'GET /audit': async (req, res) => metadata.listAudit((await reader(req, res)).account),
  };
}

function ofSessions(
  { metadata, people, hasOidc, attempt, failedAttempts }: HandlersDeps,
  { reader }: Callers,
): Handlers<
  'GET /sign-in' | 'POST /sign-in/link' | 'POST /sign-out' | 'GET /session' | 'PUT /session/account'
> {
  return {
    'GET /sign-in': async () => ({ oidc: hasOidc }),
    'POST /sign-in/link': async (req, res) => {
      people.assertOwnPage(req);
      await attempt(req, res);
      const { token } = await bodyOf(req, res, LinkBody);
      const session = await metadata.sessions.redeem(token);
      if (session === null) throw failedAttempts.record(req.address, WRONG_LINK);
      await people.signIn(req, res, session);
      return sessionAnswer(metadata, session);
    },
    'POST /sign-out': async (req, res) => {
      people.assertOwnPage(req);
      const session = await people.sessionOf(req);
      await metadata.sessions.end(session);
      people.forget(req, res);
      return { signedOut: true };
    },
    'GET /session': async (req, res) => sessionAnswer(metadata, await reader(req, res)),
    'PUT /session/account': async (req, res) => {
      people.assertOwnPage(req);
      const session = await reader(req, res);
      const { accountId } = await bodyOf(req, res, AccountBody);
      const chosen = isBound(session) ? null : await metadata.sessions.open(accountId, session.email);
      if (chosen === null) throw new AppError('not_found', 'You are no member of this account.');
      await people.signIn(req, res, chosen);
      return sessionAnswer(metadata, chosen);
    },
  };
}

function ofKeys(
  { metadata }: HandlersDeps,
  { reader, owner }: Callers,
): Handlers<'GET /keys' | 'POST /keys' | 'POST /keys/:keyId/rotate' | 'POST /keys/:keyId/revoke'> {
  return {
    'GET /keys': async (req, res) => metadata.listKeys((await reader(req, res)).account),
    'POST /keys': async (req, res) => {
      const session = await owner(req, res);
      const { name, expiresAt } = await bodyOf(req, res, KeyBody);
      const input = { expiresAt, ...(name === undefined ? {} : { name }) };
      return { created: await metadata.by(actorOf(session)).createKey(session.account, input) };
    },
    'POST /keys/:keyId/rotate': async (req, res) => {
      const session = await owner(req, res);
      const { keyId } = parse(KeyPath, req.params);
      const { overlapSeconds, expiresAt } = await bodyOf(req, res, RotateKeyBody);
      await assertOwnKey(metadata, session.account, keyId);
      const rotation = { overlapMs: overlapSeconds * 1000, expiresAt };
      return { created: await metadata.by(actorOf(session)).rotateKey(keyId, rotation) };
    },
    'POST /keys/:keyId/revoke': async (req, res) => {
      const session = await owner(req, res);
      const { keyId } = parse(KeyPath, req.params);
      await assertOwnKey(metadata, session.account, keyId);
      return metadata.by(actorOf(session)).revokeKey(keyId);
    },
  };
}

type AppRoute = Exclude<
  Extract<keyof Handlers, `${string} /apps/${string}`>,
  `${string} /apps/:appId/links${string}`
>;

function ofApps({ metadata }: HandlersDeps, { reader, owner }: Callers): Handlers<AppRoute> {
  return {
    'POST /apps/:appId/rotate-secret': async (req, res) => {
      const session = await owner(req, res);
      const { appId } = parse(AppPath, req.params);
      const { overlapSeconds } = await bodyOf(req, res, RotateSecretBody);
      await ownApp(metadata, session.account, appId);
      const rotation = { overlapMs: overlapSeconds * 1000 };
      return { created: await metadata.by(actorOf(session)).rotateSecret(appId, rotation) };
    },
    'POST /apps/:appId/delete': async (req, res) => {
      const session = await owner(req, res);
      const { appId } = parse(AppPath, req.params);
      const { name } = await bodyOf(req, res, DeletionBody);
      const app = await ownApp(metadata, session.account, appId);
      if (name !== app.name) throw wrongName();
      await metadata.by(actorOf(session)).deleteApp(appId);
      return { appId, deleted: true };
    },
    'GET /apps/:appId/retention': async (req, res) => {
      const { account } = await reader(req, res);
      const { appId } = parse(AppPath, req.params);
      await ownApp(metadata, account, appId);
      return metadata.retentionOf(appId);
    },
    'PUT /apps/:appId/retention': async (req, res) => {
      const session = await owner(req, res);
      const { appId } = parse(AppPath, req.params);
      const app = await ownApp(metadata, session.account, appId);
      const { name, days } = await bodyOf(req, res, NamedRetentionBody);
      if (name !== app.name) throw wrongName();
      return metadata.by(actorOf(session)).setRetention(appId, days);
    },
    'GET /apps/:appId/excluded-addresses': async (req, res) => {
      const { account } = await reader(req, res);
      const { appId } = parse(AppPath, req.params);
      await ownApp(metadata, account, appId);
      return metadata.exclusionsOf(appId);
    },
    'PUT /apps/:appId/excluded-addresses': async (req, res) => {
      const session = await owner(req, res);
      const { appId } = parse(AppPath, req.params);
      await ownApp(metadata, session.account, appId);
      const { addresses } = await bodyOf(req, res, ExclusionsBody);
      return metadata.by(actorOf(session)).setExclusions(appId, addresses);
    },
    'GET /apps/:appId/shares': async (req, res) => {
      const { account } = await reader(req, res);
      const { appId } = parse(AppPath, req.params);
      await ownApp(metadata, account, appId);
      const shares = await metadata.listShares({ app: appId });
      return shares.map(({ accountId, accountName }) => ({ accountId, accountName }));
    },
    'PUT /apps/:appId/shares/:accountId': async (req, res) => {
      const session = await owner(req, res);
      const { appId, accountId } = parse(SharePath, req.params);
      await ownApp(metadata, session.account, appId);
      await metadata.by(actorOf(session)).shareApp(appId, accountId);
      return { appId, accountId, shared: true };
    },
    'DELETE /apps/:appId/shares/:accountId': async (req, res) => {
      const session = await owner(req, res);
      const { appId, accountId } = parse(SharePath, req.params);
      await ownApp(metadata, session.account, appId);
      await metadata.by(actorOf(session)).unshareApp(appId, accountId);
      return { appId, accountId, shared: false };
    },
  };
}

const WRONG_LINK = new AppError(
  'unauthorized',
  'This link is not valid: it works once, and for some time. Ask for a new one.',
);

const wrongName = (): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', {
    errors: [{ field: 'name', message: "Must be the app's name." }],
  });
