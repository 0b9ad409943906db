import { createHash, hash } from 'node:crypto';
import type { Body } from '../forms/bodies.ts';
import type { Coding } from '../forms/coding.ts';

/** Hashes a text to 160 bits: no two texts share them. */
export const digest = (text: string | Buffer): string => hash('sha256', text, 'base64url').slice(0, 27);

/** Hashes a body's bytes in the same way. */
export async function digestOf(body: Body): Promise<string> {
  if (body.bytes !== null) return digest(body.bytes);
  const sha = createHash('sha256');
  for await (const piece of body.pieces(true)) sha.update(piece);
  return sha.digest('base64url').slice(0, 27);
}

/**
 * Returns the strong tag (RFC 9110, section 8.8.3) of one sequence of bytes. `content` identifies the
 * content, `mark` the form. Each form and each coding has its own tag.
 */
export const etag = (content: string, mark = '', coding: Coding | null = null): string =>
  `"${content}${mark}${coding === null ? '' : `-${coding}`}"`;

/**
 * Returns the first of `etags` that If-None-Match names. The comparison is weak, as RFC 9110 (section 13.1.2)
 * demands for this header.
 */
export function namedEtag(ifNoneMatch: string, etags: readonly string[]): string | undefined {
  // The usual case of a poller.
  if (etags.includes(ifNoneMatch)) return ifNoneMatch;
  if (ifNoneMatch.trim() === '*') return etags[0];
  const named = (ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []).map((tag) => tag.replace(/^W\//, ''));
  return etags.find((etag) => named.includes(etag));
}

/** True if If-None-Match names the tag. */
export const matchesEtag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && namedEtag(ifNoneMatch, [etag]) !== undefined;
