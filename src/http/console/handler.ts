import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Clock } from '../../domain/time.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { Session } from '../../metadata/sessions.ts';
import { readJson } from '../gate/body.ts';
import type { FailedAttempts } from '../gate/failed-attempts.ts';
import { announce, type RateLimit } from '../gate/rate-limit.ts';
import { parseBody as parse } from '../gate/validate.ts';
import { type People, windowOf } from './people.ts';
import type { ConsoleAnswers } from './schemas.ts';

/* What the handlers of the console's own API share: their types, who asks, and the body of a request. */

/** A segment can have 4,096 characters of four bytes. */
const MAX_BODY = 32 * 1024;

export interface HandlersDeps {
  readonly metadata: Metadata;
  readonly people: People;
  readonly hasOidc: boolean;
  /** Counts a request of a session. */
  readonly count: RateLimit;
  /** Counts an attempt to sign in, and throws beyond the limit. */
  readonly attempt: (req: Request, res: Response) => Promise<void>;
  readonly failedAttempts: FailedAttempts;
  readonly requestsPerMinute: number;
  readonly clock: Clock;
}

export type Route = keyof ConsoleAnswers;
/** An answer; `created` for one with status 201. */
type Reply<R extends Route> = ConsoleAnswers[R] | { readonly created: ConsoleAnswers[R] };
export type Handlers<R extends Route = Route> = {
  readonly [Each in R]: (req: Request, res: Response) => Promise<Reply<Each>>;
};

export type Callers = ReturnType<typeof callersOf>;

/** Finds the session of a request that reads, or that changes something, and counts it. */
export function callersOf({ people, count }: Pick<HandlersDeps, 'people' | 'count'>) {
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
  return parse(schema, isEmpty ? {} : await readJson(req, res, MAX_BODY));
}
