import type { Request } from 'express';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../domain/time.ts';

const ALGORITHM = 'HS256';

/** A cookie that holds a signed JWT. A caller can read its claims, but not change them. */
export interface CookieKind {
  readonly name: string;
  /** The JWT's audience: one kind is never taken for another. */
  readonly audience: string;
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax';
  readonly seconds: number;
}

export class SignedCookies {
  readonly #key: Uint8Array;
  readonly #clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.#key = new TextEncoder().encode(secret);
    this.#clock = clock;
  }

  /** Returns the value of Set-Cookie. */
  async sign(
    { name, audience, path, sameSite, seconds }: CookieKind,
    claims: Readonly<Record<string, string>>,
    isSecure: boolean,
  ): Promise<string> {
    const now = Math.floor(this.#clock() / 1000);
    const token = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + seconds)
      .sign(this.#key);
    return `${name}=${token}; Max-Age=${seconds}; ${attributes(path, sameSite, isSecure)}`;
  }

  /** Returns the claims of the request's cookie; null without one that is valid now. */
  async read(
    req: Request,
    { name, audience }: CookieKind,
  ): Promise<Readonly<Record<string, unknown>> | null> {
    const token = cookieOf(req, name);
    if (token === null) return null;
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: [ALGORITHM],
        audience,
        requiredClaims: ['exp'],
        currentDate: new Date(this.#clock()),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

/** The value of Set-Cookie that removes a cookie. */
export const removal = ({ name, path, sameSite }: CookieKind, isSecure: boolean): string =>
  `${name}=; Max-Age=0; ${attributes(path, sameSite, isSecure)}`;

const attributes = (path: string, sameSite: string, isSecure: boolean): string =>
  `Path=${path}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;

/** Null if the cookie is absent, or sent twice: then another site's may be among them. */
function cookieOf({ headers }: Request, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value = ''] = values;
  return values.length === 1 && value !== '' ? value : null;
}
