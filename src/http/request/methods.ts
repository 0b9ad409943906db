import type { Request, Response } from 'express';
import { AppError } from '../../domain/errors.ts';

/** HEAD is allowed wherever GET is. */
const withHead = (methods: readonly string[]): string[] =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/**
 * Returns the entry for the request's method. Throws `not_found` for a path without entries. Throws
 * `method_not_allowed` for an unknown method, and sets Allow.
 */
export function pick<T>(byMethod: ReadonlyMap<string, T> | undefined, req: Request, res: Response): T {
  if (byMethod === undefined) throw new AppError('not_found', 'There is nothing at this path.');
  const found = byMethod.get(req.method === 'HEAD' ? 'GET' : req.method);
  if (found !== undefined) return found;
  const allow = withHead([...byMethod.keys()]).join(', ');
  res.setHeader('Allow', allow);
  throw new AppError('method_not_allowed', `This path allows ${allow}.`);
}
