import type { Request, Response } from 'express';
import { AppError } from '../../domain/errors.ts';
import { parseUrl } from '../../domain/host.ts';
import { isUuid, keyId } from '../../domain/ids.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { PLANS } from '../../metadata/plans.ts';
import { actorOf, type Session } from '../../metadata/sessions.ts';
import type { Principal } from '../../metadata/types.ts';
import type { Authentication } from '../gate/authenticate.ts';
import { type CookieKind, removal, type SignedCookies } from './cookies.ts';

const SESSION: CookieKind = {
  name: 'analytics_session',
  audience: 'console session',
  path: '/dashboard',
  sameSite: 'Strict',
  seconds: 12 * 3_600,
};

export interface PeopleDeps {
  readonly metadata: Pick<Metadata, 'sessions' | 'findAccount'>;
  /** The secret is in the store, so it is read with the first request. */
  cookies(): Promise<SignedCookies>;
  readonly dashboardUrl: string | null;
}

/** Finds out who is signed in, and whether they may change something. */
export class People implements Authentication {
  readonly #deps: PeopleDeps;

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
  }

  /** Returns the session of the request. Throws `unauthorized`. */
  async sessionOf(req: Request): Promise<Session> {
    const session = await this.#find(await this.idOf(req));
    if (session === null) throw new AppError('unauthorized', 'Nobody is signed in. Sign in at /dashboard.');
    return session;
  }

  /** Returns the id in the browser's cookie, whose session may have ended; null without a valid cookie. */
  async idOf(req: Request): Promise<string | null> {
    const id = (await (await this.#deps.cookies()).read(req, SESSION))?.['sid'];
    return typeof id === 'string' ? id : null;
  }

  /**
   * Returns the session of a request that may change something. Browsers say from which origin such a request
   * comes. Throws `forbidden` for another site's page, and for a viewer.
   */
  async ownerOf(req: Request): Promise<Session> {
    this.assertOwnPage(req);
    const session = await this.sessionOf(req);
    if (session.role === 'owner') return session;
    throw new AppError('forbidden', 'A viewer cannot change anything. Ask an owner of the account.');
  }

  /** Throws `forbidden` unless Origin is the console's own. */
  assertOwnPage({ headers: { origin, host } }: Request): void {
    const own = this.#deps.dashboardUrl === null ? host : new URL(this.#deps.dashboardUrl).host;
    if (origin !== undefined && parseUrl(origin)?.host === own) return;
    throw new AppError(
      'forbidden',
      'Only pages of the console may ask this: the Origin header must be theirs.',
    );
  }

  async authenticate(req: Request): Promise<Principal> {
    const isReading = req.method === 'GET' || req.method === 'HEAD';
    return this.#principalOf(await (isReading ? this.sessionOf(req) : this.ownerOf(req)));
  }

  confirm(req: Request): Promise<Principal> {
    return this.authenticate(req);
  }

  /**
   * Gives the browser a session, and ends the one that it had. `before` is the id of that one where its cookie does not
   * come with this request.
   */
  async signIn(req: Request, res: Response, session: Session, before: string | null = null): Promise<void> {
    for (const id of new Set([await this.idOf(req), before])) {
      const old = await this.#find(id);
      if (old !== null) await this.#deps.metadata.sessions.end(old);
    }
    const cookie = await (await this.#deps.cookies()).sign(SESSION, { sid: session.id }, this.isSecure(req));
    res.append('Set-Cookie', cookie);
  }

  forget(req: Request, res: Response): void {
    res.append('Set-Cookie', removal(SESSION, this.isSecure(req)));
  }

  /** True if people use the console over HTTPS. */
  isSecure(req: Request): boolean {
    return this.#deps.dashboardUrl?.startsWith('https:') ?? req.isSecure;
  }

  async #find(id: string | null): Promise<Session | null> {
    return id !== null && isUuid(id) ? this.#deps.metadata.sessions.find(id) : null;
  }

  async #principalOf(session: Session): Promise<Principal> {
    const account = await this.#deps.metadata.findAccount(session.account);
    if (account === null) throw new AppError('unauthorized', 'The account does not exist any more.');
    return {
      accountId: session.account,
      keyId: keyId(session.id),
      plan: PLANS[account.plan],
      actor: actorOf(session),
    };
  }
}

/** A person has one window, whatever the number of sessions. Owners without a name have one for each. */
export const windowOf = ({ id, account, email }: Pick<Session, 'id' | 'account' | 'email'>): string =>
  email === '' ? id : `person ${account} ${email}`;

/** The same window, for the principal of a session. */
export const windowOfCaller = ({ keyId: id, accountId: account, actor }: Principal): string =>
  windowOf({ id, account, email: actor === actorOf({ email: '' }) ? '' : actor });
