import type { Request, Response } from 'express';
import { AppError } from '../../domain/errors.ts';

/** HEAD works wherever GET does. */
const withHead = (methods: readonly string[]): string[] =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/**
 * What a path has for the request's method. Throws `not_found` for a path that has nothing, `method_not_allowed`, with
 * Allow, for a method that it does not know.
 */
export function pick<T>(byMethod: ReadonlyMap<string, T> | undefined, req: Request, res: Response): T {
  if (byMethod === undefined) throw new AppError('not_found', 'There is nothing at this path.');
  const found = byMethod.get(req.method === 'HEAD' ? 'GET' : req.method);
  if (found !== undefined) return found;
  const allow = withHead([...byMethod.keys()]).join(', ');
  res.setHeader('Allow', allow);
  throw new AppError('method_not_allowed', `This path allows ${allow}.`);
}
