import { createHash, hash } from 'node:crypto';
import type { Body } from '../forms/bodies.ts';
import type { Coding } from '../forms/coding.ts';

/** 160 bits of a hash: no two texts share them. */
export const digest = (text: string | Buffer): string => hash('sha256', text, 'base64url').slice(0, 27);

/** The same of a body's bytes. */
export async function digestOf(body: Body): Promise<string> {
  if (body.bytes !== null) return digest(body.bytes);
  const sha = createHash('sha256');
  for await (const piece of body.pieces()) sha.update(piece);
  return sha.digest('base64url').slice(0, 27);
}

/**
 * The strong tag (RFC 9110, section 8.8.3) of one sequence of bytes. `content` stands for what they say, `mark` for the form in which
 * it is written: each form and each coding has a tag of its own.
 */
export const etag = (content: string, mark = '', coding: Coding | null = null): string =>
  `"${content}${mark}${coding === null ? '' : `-${coding}`}"`;

/**
 * The first of `etags` that If-None-Match names. It compares weakly, as RFC 9110 (section 13.1.2) wants for this header.
 */
export function namedEtag(ifNoneMatch: string, etags: readonly string[]): string | undefined {
  // What a poller sends.
  if (etags.includes(ifNoneMatch)) return ifNoneMatch;
  if (ifNoneMatch.trim() === '*') return etags[0];
  const named = (ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []).map((tag) => tag.replace(/^W\//, ''));
  return etags.find((etag) => named.includes(etag));
}

/** Whether If-None-Match names the tag. */
export const matchesEtag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && namedEtag(ifNoneMatch, [etag]) !== undefined;
