import { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import { isUuid } from '../domain/ids.ts';

/** Limits of a batch. A larger batch is refused as a whole. */
export const MAX_SESSIONS = 500;
export const MAX_EVENTS = 5_000;

/**
 * The input of `accept`. Sessions are checked one by one, so that an invalid one does not cost the others.
 */
export interface Batch {
  /** A UUID. */
  readonly batchId: string;
  readonly sessions: readonly unknown[];
  /** The sender's clock at sending, if stated. Ignored if it is no RFC 3339 date-time. */
  readonly sentAt?: unknown;
}

/** A batch on the wire, with the app's credentials. */
export interface Envelope extends Batch {
  readonly appId: string;
  readonly secretKey: string;
}

const TEXT = 'Must be a string.';

/** A batch's outer shape. */
export const EnvelopeSchema = z.object(
  {
    appId: z.string(TEXT),
    secretKey: z.string(TEXT),
    batchId: z.string(TEXT).refine(isUuid, 'Must be a UUID.'),
    sessions: z.array(z.unknown(), 'Must be a list of sessions.'),
    sentAt: z.unknown().optional(),
  },
  'Must be a JSON object.',
) satisfies z.ZodType<Envelope>;

/** Checks a batch's outer shape. Ignores unknown fields. Throws `validation_failed`. */
export function parseEnvelope(body: unknown): Envelope {
  const parsed = EnvelopeSchema.safeParse(body);
  if (!parsed.success) {
    throw invalid(
      parsed.error.issues.map(({ path, message }) => ({ field: path.join('.') || 'body', message })),
    );
  }
  const { sessions } = parsed.data;
  if (sessions.length > MAX_SESSIONS) {
    throw invalid([{ field: 'sessions', message: `At most ${MAX_SESSIONS} sessions per batch.` }]);
  }
  if (countEvents(sessions) > MAX_EVENTS) {
    throw invalid([{ field: 'sessions', message: `At most ${MAX_EVENTS} events per batch.` }]);
  }
  return parsed.data;
}

/** Counts events as sent, including invalid ones. */
export function countEvents(sessions: readonly unknown[]): number {
  let events = 0;
  for (const session of sessions) {
    if (typeof session !== 'object' || session === null || !('events' in session)) continue;
    if (Array.isArray(session.events)) events += session.events.length;
  }
  return events;
}

const invalid = (errors: { field: string; message: string }[]): AppError =>
  new AppError('validation_failed', 'The batch is malformed.', { errors: errors.slice(0, 20) });
