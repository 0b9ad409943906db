import { createHash } from 'node:crypto';

/** 160 bits of a hash: no two texts share them. */
export const digest = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 27);

/** A strong validator of these very bytes (RFC 9110, section 8.8.3). */
export const etagOf = (body: string | Buffer): string => `"${digest(body)}"`;

/** Whether If-None-Match names the tag. It compares weakly, as RFC 9110 (section 13.1.2) wants for this header. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => tag.replace(/^W\//, '') === etag);
}
