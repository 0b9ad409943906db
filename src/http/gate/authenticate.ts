import type { Request } from 'express';
import { AppError } from '../../domain/errors.ts';
import type { Access, Principal } from '../../metadata/types.ts';
import { headerValues } from '../request/raw-headers.ts';
import type { FailedAttempts } from './failed-attempts.ts';

const BEARER = /^bearer +(\S+)$/i;
const APP_SECRET = 'app_secret_';
const KEY_NEEDED = 'A valid account API key is needed: send it as "Authorization: Bearer <key>".';
const KEY_NEEDED_HERE = "This is an app's SDK credential; an account API key is needed here.";

export interface AuthenticationDeps {
  readonly access: Access;
  readonly failedAttempts: FailedAttempts;
  /**
   * The site where users make keys, for the messages; known when the service listens. Empty for the address of the
   * request, null if there is none.
   */
  readonly keysSite: () => string | null;
}

/** Finds the account behind a request. */
export interface Authentication {
  /** Throws `unauthorized` or `too_many_invalid_attempts`. */
  authenticate(req: Request): Promise<Principal>;
  /** Does the same again for a request that goes on. It does not count as an attempt. Throws `unauthorized`. */
  confirm(req: Request): Promise<Principal>;
}

/** Finds the account by the request's API key. */
export function authenticationByKey({
  access,
  failedAttempts,
  keysSite,
}: AuthenticationDeps): Authentication {
  // A missing, malformed, unknown, expired and revoked key get the same body, so it reveals nothing about
  // keys.
  const refusal = (what = KEY_NEEDED): AppError => {
    const site = keysSite();
    const where = site === null ? '' : ` Keys are made at ${site}/dashboard/api-keys.`;
    return new AppError('unauthorized', `${what}${where}`);
  };
  const tokenOf = (req: Request): string | undefined => {
    const headers = headerValues(req, 'authorization');
    return headers.length === 1 ? BEARER.exec(headers[0] ?? '')?.[1] : undefined;
  };
  const principalOf = async (token: string | undefined): Promise<Principal | null> =>
    token === undefined || token.startsWith(APP_SECRET) ? null : access.authenticate(token);
  return {
    async authenticate(req) {
      if (headerValues(req, 'authorization').length === 0) throw refusal();
      const token = tokenOf(req);
      const principal = await principalOf(token);
      if (principal !== null) return principal;
      throw failedAttempts.record(
        req.address,
        refusal(token?.startsWith(APP_SECRET) ? KEY_NEEDED_HERE : KEY_NEEDED),
      );
    },
    async confirm(req) {
      const principal = await principalOf(tokenOf(req));
      if (principal === null) throw refusal();
      return principal;
    },
  };
}
