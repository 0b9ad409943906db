import type { Request, Response } from 'express';
import type { Principal } from '../metadata/types.ts';

/** What the way of a request has found out so far; kept in `res.locals`. */
interface Context {
  principal?: Principal;
  /** The endpoint's path, once it is known to be one: the log never shows what the caller wrote. */
  route?: string;
}

export const contextOf = (res: Response): Context => res.locals;

/** After authentication. */
export function principalOf(res: Response): Principal {
  const { principal } = contextOf(res);
  if (principal === undefined) throw new Error('not authenticated yet');
  return principal;
}

/** Path and query of the request as they were sent; the path is compared byte for byte. */
export function targetOf(req: Request): { readonly path: string; readonly search: string } {
  const target = req.originalUrl;
  const end = target.indexOf('?');
  return end === -1
    ? { path: target, search: '' }
    : { path: target.slice(0, end), search: target.slice(end + 1) };
}
