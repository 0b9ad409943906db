import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type LinkId, linkId } from '../domain/ids.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
/** The beginning of every API key. */
export const API_KEY_START = 'service_api_';
const API_KEY = /^service_api_([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/;
const LINK_TOKEN = /^app_link_([0-9a-f]{32})([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/;
const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
const APP_SECRET = /^app_secret_[0-9A-Za-z]{40}$/;

/** `service_api_`, 40 random base62 characters, and their CRC32 in 6 base62 digits. */
export function newApiKey(): string {
  const random = randomBase62();
  return `${API_KEY_START}${random}${checksum(random)}`;
}

/** True if form and checksum are right. Any other text needs no look-up. */
export function isApiKey(text: string): boolean {
  const [, random, sum] = API_KEY.exec(text) ?? [];
  return random !== undefined && checksum(random) === sum;
}

/** The characters after a key's `service_api_` that tell it from others. The other 34 stay unknown. */
export const shownPart = (apiKey: string): string =>
  apiKey.slice(API_KEY_START.length, API_KEY_START.length + 6);

/** `app_link_`, the link's UUID without its hyphens, 40 random base62 characters, and the CRC32 of both. */
export function newLinkToken(link: LinkId): string {
  const text = `${link.replaceAll('-', '')}${randomBase62()}`;
  return `app_link_${text}${checksum(text)}`;
}

/** The id of the link whose token this may be; null if form or checksum are wrong. */
export function linkOfToken(token: string): LinkId | null {
  const [, hex = '', random = '', sum] = LINK_TOKEN.exec(token) ?? [];
  return checksum(hex + random) === sum ? linkId(hex.replace(UUID_PARTS, '$1-$2-$3-$4-$5')) : null;
}

/** `app_secret_` and 40 random base62 characters. */
export const newAppSecret = (): string => `app_secret_${randomBase62()}`;

export const isAppSecret = (text: string): boolean => APP_SECRET.test(text);

/**
 * SHA-256 in hex, which the store keeps. Salt and a slow hash are not needed: 238 random bits cannot be
 * guessed. A key is found by its hash.
 */
export const hashCredential = (credential: string): string => hash('sha256', credential, 'hex');

/** Compares two hashes in constant time. */
export const sameHash = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** randomInt draws from the CSPRNG without modulo bias. */
const randomBase62 = (): string =>
  Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join('');

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
