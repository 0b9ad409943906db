import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Session } from '../../metadata/sessions.ts';
import { readJson } from '../gate/body.ts';
import { announce, type RateLimit } from '../gate/rate-limit.ts';
import { parseBody } from '../gate/validate.ts';
import { type People, windowOf } from './people.ts';
import type { ConsoleAnswers } from './schemas.ts';

const MAX_BODY = 16 * 1024;

type Route = keyof ConsoleAnswers;
/** An answer; `created` for one with status 201. */
type Reply<R extends Route> = ConsoleAnswers[R] | { readonly created: ConsoleAnswers[R] };
export type Handlers<R extends Route = Route> = {
  readonly [Each in R]: (req: Request, res: Response) => Promise<Reply<Each>>;
};

export type Callers = ReturnType<typeof callersOf>;

/** Finds the session of a request that reads, or that changes something, and counts it. `count` counts a session's. */
export function callersOf({ people, count }: { readonly people: People; readonly count: RateLimit }) {
  const counted = async (res: Response, session: Session): Promise<Session> => {
    announce(res, await count(windowOf(session)));
    return session;
  };
  return {
    reader: async (req: Request, res: Response) => counted(res, await people.sessionOf(req)),
    owner: async (req: Request, res: Response) => counted(res, await people.ownerOf(req)),
  };
}

/** A request without a body counts as one without fields. */
export async function bodyOf<T>(req: Request, res: Response, schema: z.ZodType<T>): Promise<T> {
  const { 'content-length': length = '0', 'transfer-encoding': chunked } = req.headers;
  const isEmpty = length === '0' && chunked === undefined;
  return parseBody(schema, isEmpty ? {} : await readJson(req, res, MAX_BODY));
}
