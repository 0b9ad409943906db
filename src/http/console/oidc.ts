import type { Request, Response, Router } from 'express';
import * as client from 'openid-client';
import type { OidcConfig } from '../../config.ts';
import { AppError } from '../../domain/errors.ts';
import { parseUrl } from '../../domain/host.ts';
import { once } from '../../domain/once.ts';
import { isError } from '../../domain/thrown.ts';
import { Email } from '../../management/schemas.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { contextOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';
import { type CookieKind, removal, type SignedCookies } from './cookies.ts';
import type { People } from './people.ts';
import type { SignInProblem } from './schemas.ts';

const ATTEMPT_SECONDS = 600;
const PROVIDER_SECONDS = 10;
/** An answer of a provider has some kB, its keys some dozens. */
const MAX_ANSWER_BYTES = 256 * 1024;

export interface OidcDeps {
  readonly config: OidcConfig;
  readonly metadata: Pick<Metadata, 'sessions' | 'accountsOfPerson'>;
  readonly people: People;
  cookies(): Promise<SignedCookies>;
  /** The console's address without a path; null: that of the request. */
  readonly dashboardUrl: string | null;
}

type Handle = (req: Request, res: Response) => Promise<void>;

/**
 * Signs people in with OpenID Connect: the code flow with PKCE, state and nonce. The provider says which e-mail
 * address somebody has, and that it is verified; the account's members say what the person may do.
 */
export class Oidc {
  readonly #deps: OidcDeps;

  constructor(deps: OidcDeps) {
    this.#deps = deps;
  }

  /** `attempts` count an attempt to sign in by its two requests, and throw beyond the limit. */
  addRoutes(
    router: Router,
    path: string,
    attempts: { readonly begin: Handle; readonly finish: Handle },
  ): void {
    // The provider's answer comes from its own site, so a strict cookie would not come with it.
    const cookie: CookieKind = {
      name: 'analytics_sign_in',
      audience: 'console sign-in',
      path,
      sameSite: 'Lax',
      seconds: ATTEMPT_SECONDS,
    };
    const route = (at: string, attempt: Handle, handle: Handle): void => {
      router.all(at, async (req, res) => {
        contextOf(res).route = at;
        const get = pick(new Map([['GET', handle]]), req, res);
        try {
          await attempt(req, res);
          await get(req, res);
        } catch (error) {
          if (!isPerson(req)) throw error;
          this.#tell(res, error);
        }
      });
    };
    const callback = `${path}/callback`;
    route(path, attempts.begin, (req, res) => this.#begin(req, res, cookie, callback));
    route(callback, attempts.finish, (req, res) => this.#finish(req, res, cookie, callback));
  }

  async #begin(req: Request, res: Response, cookie: CookieKind, callback: string): Promise<void> {
    const provider = await this.#discovered();
    const verifier = client.randomPKCECodeVerifier();
    const { people } = this.#deps;
    const claims = {
      verifier,
      state: client.randomState(),
      nonce: client.randomNonce(),
      // The strict cookie of the session does not come with the provider's answer.
      before: (await people.idOf(req)) ?? '',
    };
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: this.#addressOf(req, callback),
      scope: 'openid email',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: claims.state,
      nonce: claims.nonce,
    });
    const signed = await (await this.#deps.cookies()).sign(cookie, claims, people.isSecure(req));
    res.append('Set-Cookie', signed);
    res.setHeader('Cache-Control', 'no-store');
    res.redirect(302, url.href);
  }

  async #finish(req: Request, res: Response, cookie: CookieKind, callback: string): Promise<void> {
    const { people, metadata, cookies } = this.#deps;
    const claims = await (await cookies()).read(req, cookie);
    if (claims === null) throw notFinished();
    const query = req.originalUrl.slice(req.originalUrl.indexOf('?'));
    const address = parseUrl(`${this.#addressOf(req, callback)}${query}`);
    if (address === null) throw notFinished();
    const email = await this.#emailOf(address, claims);
    const [membership] = await metadata.accountsOfPerson(email);
    const session =
      membership === undefined ? null : await metadata.sessions.open(membership.accountId, email);
    if (session === null) throw noMember();
    await people.signIn(req, res, session, String(claims['before']));
    res.append('Set-Cookie', removal(cookie, people.isSecure(req)));
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    // Not a redirect: to a browser the whole chain would come from the provider's site, without the strict cookie.
    res.end(SIGNED_IN);
  }

  /** Leads a person to the console's own page of sign-in, which says in their language what went wrong. */
  #tell(res: Response, error: unknown): void {
    res.err = isError(error) ? error : new Error(String(error));
    res.setHeader('Cache-Control', 'no-store');
    res.redirect(303, `${this.#deps.dashboardUrl ?? ''}/dashboard/sign-in?problem=${reasonOf(error)}`);
  }

  /** Returns the verified address, as members have it. */
  async #emailOf(url: URL, claims: Readonly<Record<string, unknown>>): Promise<string> {
    const provider = await this.#discovered();
    const { verifier, state, nonce } = claims;
    try {
      const tokens = await client.authorizationCodeGrant(provider, url, {
        pkceCodeVerifier: String(verifier),
        expectedState: String(state),
        expectedNonce: String(nonce),
        idTokenExpected: true,
      });
      const token = tokens.claims();
      if (token === undefined) throw notFinished();
      const person =
        token['email'] === undefined
          ? await client.fetchUserInfo(provider, tokens.access_token, token.sub)
          : token;
      const email = Email.safeParse(person['email']);
      if (email.success && person['email_verified'] === true) return email.data;
    } catch (error) {
      throw error instanceof AppError ? error : notFinished(error);
    }
    throw new SignInFailure('not-confirmed', 'The sign-in provider did not confirm your e-mail address.');
  }

  /** Asks the provider for its addresses and keys once. After a failure, the next person's attempt asks again. */
  readonly #discovered = once((): Promise<client.Configuration> => {
    const { issuer, clientId, clientSecret } = this.#deps.config;
    return client
      .discovery(new URL(issuer), clientId, clientSecret, undefined, {
        timeout: PROVIDER_SECONDS,
        [client.customFetch]: boundedFetch,
        // Without these, a token that came from the provider's address counts, whoever signed it.
        execute: [
          client.enableNonRepudiationChecks,
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
      })
      .catch((cause: unknown) => {
        throw new AppError('overloaded', 'The sign-in provider does not answer. Try again shortly.', {
          retryAfterSeconds: 5,
          cause,
        });
      });
  });

  #addressOf(req: Request, path: string): string {
    const scheme = req.isSecure ? 'https' : 'http';
    return `${this.#deps.dashboardUrl ?? `${scheme}://${req.headers.host ?? ''}`}${path}`;
  }
}

/** Reads an answer of the provider to its end, within `PROVIDER_SECONDS` and `MAX_ANSWER_BYTES`. */
const boundedFetch: client.CustomFetch = async (url, options) => {
  const { body, status, headers } = await fetch(url, options as RequestInit);
  if (body === null) return new Response(null, { status, headers });
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('The answer of the sign-in provider is too large.');
    pieces.push(piece);
  }
  return new Response(Buffer.concat(pieces), { status, headers });
};

/** Seen for a moment at most, so it needs no words: an address is read in every language. */
const SIGNED_IN = `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="0; url=/dashboard"><title>/dashboard</title><p><a href="/dashboard">/dashboard</a></p>`;

/** A refusal of the sign-in itself. The console has a text for each reason. */
class SignInFailure extends AppError {
  readonly reason: Exclude<SignInProblem, 'busy' | 'away'>;

  constructor(reason: SignInFailure['reason'], detail: string, cause?: unknown) {
    super('forbidden', detail, { cause });
    this.reason = reason;
  }
}

function reasonOf(error: unknown): SignInProblem {
  if (error instanceof SignInFailure) return error.reason;
  return error instanceof AppError && error.code === 'rate_limited' ? 'busy' : 'away';
}

/** Browsers ask for a page when a person goes somewhere; programs get the problem itself. */
const isPerson = ({ headers: { accept = '' } }: Request): boolean => accept.includes('text/html');

const notFinished = (cause?: unknown): AppError =>
  new SignInFailure('not-finished', 'The sign-in was not finished. Start again at /dashboard.', cause);
const noMember = (): AppError =>
  new SignInFailure(
    'no-member',
    'You are no member of an account here. Ask an owner or the operator to add you.',
  );
