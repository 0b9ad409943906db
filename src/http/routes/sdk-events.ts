import { type Request, type Response, Router } from 'express';
import { AppError } from '../../domain/errors.ts';
import { hostnameOf } from '../../domain/host.ts';
import type { Ingestion } from '../../ingestion/ingestion.ts';
import { hostOf, isOwnHost } from '../../ingestion/referrer.ts';
import { cleanText } from '../../ingestion/text.ts';
import { parseEnvelope } from '../../ingestion/wire.ts';
import type { Access, SdkApp } from '../../metadata/types.ts';
import { replyToPost } from '../answer/reply.ts';
import { readJson } from '../gate/body.ts';
import type { FailedAttempts } from '../gate/failed-attempts.ts';
import { contextOf, Timing } from '../request/context.ts';
import { pick } from '../request/methods.ts';

const PATH = '/sdk/v1/events';
const BODY_LIMIT = 1024 * 1024;
/** Plain text needs no preflight; `navigator.sendBeacon` sends it. */
const BODY_TYPES = ['application/json', 'text/plain'];
const PREFLIGHT_SECONDS = 7_200;
const LONGEST_ORIGIN = 300;

export interface SdkEventsDeps {
  readonly access: Pick<Access, 'authenticateApp'>;
  readonly ingestion: Pick<Ingestion, 'accept'>;
  readonly failedAttempts: FailedAttempts;
}

/**
 * Serves `POST /sdk/v1/events`. The order of checks: 405, 415 and 413, 400, 401, 403. Invalid sessions and
 * events are then rejected one by one in the 200's body.
 */
export function sdkEventsRouter({ access, ingestion, failedAttempts }: SdkEventsDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });

  async function post(req: Request, res: Response): Promise<void> {
    // Every page may read the answer: a page with wrong credentials or a wrong origin can then say so. The answer
    // holds no data but the app's domain, in a 403.
    allowOrigin(req, res);
    const context = contextOf(res);
    const timing = new Timing('body', { isShown: false });
    context.timing = timing;
    const envelope = parseEnvelope(await readJson(req, res, BODY_LIMIT, BODY_TYPES));
    timing.next('auth');
    const app = await access.authenticateApp(envelope.appId, envelope.secretKey);
    if (app === null) throw failedAttempts.record(req.address, WRONG_CREDENTIALS);
    if (!isFromApp(req, app)) throw new AppError('app_access_denied', foreignOrigin(req, app));
    context.app = app.id;
    timing.next('store');
    const result = await ingestion.accept(app, envelope, {
      userAgent: req.headers['user-agent'] ?? '',
      address: req.address,
    });
    timing.next('answer');
    replyToPost(req, res, 200, result);
  }

  const methods = new Map([
    ['POST', post],
    ['OPTIONS', preflight],
  ]);
  router.all(PATH, async (req, res) => {
    res.setHeader('Vary', 'Origin');
    const handle = pick(methods, req, res);
    contextOf(res).route = PATH;
    await handle(req, res);
  });
  return router;
}

const WRONG_CREDENTIALS = new AppError(
  'unauthorized',
  "The app's credentials (appId and secretKey) are not valid.",
);

/**
 * Allows every origin to ask, because the credentials are in a body that the browser has not sent yet. The
 * POST then decides which origins may send.
 */
async function preflight(req: Request, res: Response): Promise<void> {
  allowOrigin(req, res);
  res.setHeader('Access-Control-Allow-Methods', 'POST');
  res.setHeader('Access-Control-Allow-Headers', 'Content-Type');
  res.setHeader('Access-Control-Max-Age', String(PREFLIGHT_SECONDS));
  res.statusCode = 204;
  res.end();
}

function allowOrigin(req: Request, res: Response): void {
  const { origin } = req.headers;
  if (origin === undefined) return;
  res.setHeader('Access-Control-Allow-Origin', origin);
  res.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
}

/**
 * An origin as browsers write it (RFC 6454, section 6.2). The URL parser alone would accept a path, a user
 * and more.
 */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:.]+\]|[^\s/?#@\\:[\]]+)(?::\d{1,5})?$/i;

/** The sender knows the app's secret, so it may be told the app's domain. */
const foreignOrigin = ({ headers: { origin = '' } }: Request, { domain }: SdkApp): string =>
  `The page's origin (${cleanText(origin, LONGEST_ORIGIN)}) is not of the app's domain (${hostOf(domain)} and its subdomains).`;

/**
 * True if the page's origin is of the app's domain, or absent, as from a server. Scheme and port are not
 * compared. `null` and invalid origins never match.
 */
function isFromApp({ headers: { origin } }: Request, { domain }: SdkApp): boolean {
  if (origin === undefined) return true;
  const host = ORIGIN.test(origin) ? hostnameOf(origin) : '';
  return host !== '' && isOwnHost(host, hostOf(domain));
}
