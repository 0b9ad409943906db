import { jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../domain/time.ts';

const ALGORITHM = 'HS256';
const LIFETIME_SECONDS = 60;

const bytes = (secret: string): Uint8Array => new TextEncoder().encode(secret);

/** Signs a token for one call, valid for 60 s. */
export function signManagementToken(secret: string, clock: Clock): Promise<string> {
  const now = Math.floor(clock() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setIssuedAt(now)
    .setExpirationTime(now + LIFETIME_SECONDS)
    .sign(bytes(secret));
}

/** True for a token that was signed with `secret` by HS256 and whose `exp` is in the future. */
export async function isManagementToken(token: string, secret: string, clock: Clock): Promise<boolean> {
  try {
    await jwtVerify(token, bytes(secret), {
      algorithms: [ALGORITHM],
      requiredClaims: ['exp'],
      currentDate: new Date(clock()),
    });
    return true;
  } catch {
    return false;
  }
}
