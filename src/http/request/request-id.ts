import { randomFillSync } from 'node:crypto';

const INBOUND = /^[A-Za-z0-9_-]{1,64}$/;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_LENGTH = 10;
const RANDOM_BYTES = 10;
/** Random bytes for many ids: a call costs more than its bytes. */
const pool = Buffer.alloc(RANDOM_BYTES * 512);
let used = pool.length;

/** Returns the caller's X-Request-Id if its form is valid, otherwise a new id. */
export const requestIdFor = (inbound: string | string[] | undefined, now: number): string =>
  typeof inbound === 'string' && INBOUND.test(inbound) ? inbound : newRequestId(now);

/** Makes a ULID: 48 bits of time and 80 random bits, in 26 characters that sort by time. */
export function newRequestId(now: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = '';
  for (let rest = now, i = 0; i < TIME_LENGTH; i++, rest = Math.floor(rest / 32)) {
    id = CROCKFORD.charAt(rest % 32) + id;
  }
  // Five bytes make eight characters.
  for (const end = used + RANDOM_BYTES; used < end; used += 5) {
    let high = pool.readUIntBE(used, 5);
    let characters = '';
    for (let i = 0; i < 8; i++, high = Math.floor(high / 32)) {
      characters = CROCKFORD.charAt(high % 32) + characters;
    }
    id += characters;
  }
  return id;
}
