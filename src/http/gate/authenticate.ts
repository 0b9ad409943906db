import type { Request } from 'express';
import { AppError } from '../../domain/errors.ts';
import type { Access, Principal } from '../../metadata/types.ts';
import { headerValues } from '../request/raw-headers.ts';
import type { FailedAttempts } from './failed-attempts.ts';

const BEARER = /^bearer +(\S+)$/i;
const APP_SECRET = 'app_secret_';

export interface AuthenticationDeps {
  readonly access: Access;
  readonly failedAttempts: FailedAttempts;
  /** The site where users make keys, for the messages. */
  readonly dashboardUrl: string | null;
}

export type Authenticate = (req: Request) => Promise<Principal>;

/** Returns the account of the request's API key. Throws `unauthorized` or `too_many_invalid_attempts`. */
export function createAuthenticate({
  access,
  failedAttempts,
  dashboardUrl,
}: AuthenticationDeps): Authenticate {
  const where = dashboardUrl === null ? '' : ` Keys are made at ${dashboardUrl}/dashboard/api-keys.`;
  // A missing, malformed, unknown, expired and revoked key get the same body, so it reveals nothing about
  // keys.
  const refusal = new AppError(
    'unauthorized',
    `A valid account API key is needed: send it as "Authorization: Bearer <key>".${where}`,
  );
  const appSecretRefusal = new AppError(
    'unauthorized',
    `This is an app's SDK credential; an account API key is needed here.${where}`,
  );
  return async (req) => {
    const headers = headerValues(req, 'authorization');
    if (headers.length === 0) throw refusal;
    const token = headers.length === 1 ? BEARER.exec(headers[0] ?? '')?.[1] : undefined;
    const isAppSecret = token?.startsWith(APP_SECRET) ?? false;
    const principal = token === undefined || isAppSecret ? null : await access.authenticate(token);
    if (principal !== null) return principal;
    throw failedAttempts.record(addressOf(req), isAppSecret ? appSecretRefusal : refusal);
  };
}

/** The connection's address, or the one that the last trusted proxy saw. */
export const addressOf = (req: Request): string => req.ip ?? req.socket.remoteAddress ?? 'unknown';
