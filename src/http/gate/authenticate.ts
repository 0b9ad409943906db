import type { Request } from 'express';
import { AppError } from '../../domain/errors.ts';
import type { Access, Principal } from '../../metadata/types.ts';
import { headerValues } from '../request/raw-headers.ts';
import type { FailedAttempts } from './failed-attempts.ts';

const BEARER = /^bearer +(\S+)$/i;
const APP_SECRET = 'app_secret_';
const KEY_NEEDED = 'A valid account API key is needed: send it as "Authorization: Bearer <key>".';
const KEY_NEEDED_HERE = "This is an app's SDK credential; an account API key is needed here.";

/** Finds the account behind a request. */
export interface Authentication {
  /** Throws `unauthorized` or `too_many_invalid_attempts`. */
  authenticate(req: Request): Promise<Principal>;
  /** Does the same again for a request that goes on. It does not count as an attempt. Throws `unauthorized`. */
  confirm(req: Request): Promise<Principal>;
}

interface BearerDeps<P extends Principal> {
  /** Resolves to null for a credential that is not valid now. */
  readonly find: (token: string) => Promise<P | null>;
  readonly failedAttempts: FailedAttempts;
  /** The error for a request without a valid credential; undefined if it has none at all. */
  readonly refusal: (token: string | undefined) => AppError;
}

/** Finds the caller by the credential in `Authorization: Bearer`. */
export interface BearerAuthentication<P extends Principal> extends Authentication {
  authenticate(req: Request): Promise<P>;
  confirm(req: Request): Promise<P>;
}

export function authenticationByBearer<P extends Principal>({
  find,
  failedAttempts,
  refusal,
}: BearerDeps<P>): BearerAuthentication<P> {
  const tokenOf = (req: Request): string | undefined => {
    const headers = headerValues(req, 'authorization');
    return headers.length === 1 ? BEARER.exec(headers[0] ?? '')?.[1] : undefined;
  };
  const principalOf = async (token: string | undefined): Promise<P | null> =>
    token === undefined ? null : find(token);
  return {
    async authenticate(req) {
      if (headerValues(req, 'authorization').length === 0) throw refusal(undefined);
      const token = tokenOf(req);
      const principal = await principalOf(token);
      if (principal !== null) return principal;
      throw failedAttempts.record(req.address, refusal(token));
    },
    async confirm(req) {
      const principal = await principalOf(tokenOf(req));
      if (principal === null) throw refusal(undefined);
      return principal;
    },
  };
}

export interface KeyAuthenticationDeps {
  readonly access: Pick<Access, 'authenticate'>;
  readonly failedAttempts: FailedAttempts;
  /**
   * The site where users make keys, for the messages; known when the service listens. Empty for the address of the
   * request, null if there is none.
   */
  readonly keysSite: () => string | null;
}

/** Finds the account by the request's API key. */
export const authenticationByKey = ({
  access,
  failedAttempts,
  keysSite,
}: KeyAuthenticationDeps): Authentication =>
  authenticationByBearer({
    find: async (token) => (token.startsWith(APP_SECRET) ? null : access.authenticate(token)),
    failedAttempts,
    // A missing, malformed, unknown, expired and revoked key get the same body, so it reveals nothing about
    // keys.
    refusal: (token) => {
      const site = keysSite();
      const where = site === null ? '' : ` Keys are made at ${site}/dashboard/api-keys.`;
      return new AppError(
        'unauthorized',
        `${token?.startsWith(APP_SECRET) ? KEY_NEEDED_HERE : KEY_NEEDED}${where}`,
      );
    },
  });
