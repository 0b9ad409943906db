import { randomBytes } from 'node:crypto';

const INBOUND = /^[A-Za-z0-9_-]{1,64}$/;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The caller's X-Request-Id where it has the right form, else a new one. */
export const requestIdFor = (inbound: string | string[] | undefined, now: number): string =>
  typeof inbound === 'string' && INBOUND.test(inbound) ? inbound : newRequestId(now);

/** A ULID: 48 bits of time, 80 of chance, 26 characters that sort by time. */
export function newRequestId(now: number): string {
  let bits = (BigInt(now) << 80n) | BigInt(`0x${randomBytes(10).toString('hex')}`);
  let id = '';
  for (let i = 0; i < 26; i++) {
    id = CROCKFORD[Number(bits & 31n)] + id;
    bits >>= 5n;
  }
  return id;
}
