import { z } from 'zod';
import { type EpochMs, epochMs } from '../domain/time.ts';
import type { Correction } from './clock-skew.ts';
import { type Context, ContextSchema, MAX_LENGTH, NO_CONTEXT } from './context.ts';
import { parseInstant } from './instant.ts';
import { cleanText } from './text.ts';
import { isBotSession } from './user-agent.ts';
import { type Fault, isFault, type ValidEvent, validateEvent } from './validate-event.ts';

/** Something that was left out of a batch. */
export interface Rejection extends Fault {
  /** Index in the batch. */
  readonly session: number;
  /** Index in the session; null when all of the session is left out. */
  readonly event: number | null;
}

export interface ValidSession {
  /** Index in the batch. */
  readonly index: number;
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: EpochMs;
  readonly context: Context;
  /** The session's own user agent, else that of the request. */
  readonly userAgent: string;
  /** In the order of the batch; never empty. */
  readonly events: readonly ValidEvent[];
}

export interface Validated {
  readonly sessions: readonly ValidSession[];
  readonly rejected: readonly Rejection[];
}

/** What the rules depend on beside the batch. */
export interface Rules {
  readonly now: EpochMs;
  /** Events before `now` minus this are too old; null: history has no age limit. */
  readonly maxAgeDays: number | null;
  /** The user agent of the request, for sessions that name none. */
  readonly userAgent: string;
  /** The id of a visitor who sends none, by the session's user agent; without it such sessions are rejected. */
  readonly visitorId?: (userAgent: string) => string;
  /** For a sender's clock that is off. */
  readonly correction?: Correction;
}

const ID = /^[A-Za-z0-9._:-]{1,64}$/;

const Id = z.string().regex(ID, 'must be 1 to 64 of A-Z a-z 0-9 . _ : -');

const SessionSchema = z.object({
  id: Id,
  visitorId: Id.nullish(),
  startedAt: z.string().transform((text, ctx) => {
    const at = parseInstant(text);
    if (at !== null) return at;
    ctx.addIssue({ code: 'custom', message: 'must be an RFC 3339 date-time, such as 2026-11-20T07:16:00Z' });
    return z.NEVER;
  }),
  context: ContextSchema.nullish(),
  events: z.array(z.unknown()),
});

/** Splits a batch into what can be stored and what cannot, in the batch's order. Pure but for `rules`. */
export function validateSessions(sessions: readonly unknown[], rules: Rules): Validated {
  const valid: ValidSession[] = [];
  const rejected: Rejection[] = [];
  const requestUserAgent = cleanText(rules.userAgent, MAX_LENGTH.userAgent);
  for (const [index, sent] of sessions.entries()) {
    const head = validateHead(sent, rules, requestUserAgent);
    if (isFault(head)) {
      rejected.push({ session: index, event: null, ...head });
      continue;
    }
    const { correctionMs, sentEvents, ...session } = head;
    const events: ValidEvent[] = [];
    for (const [position, sentEvent] of sentEvents.entries()) {
      const event = validateEvent(sentEvent, {
        ...rules,
        position,
        startedAt: session.startedAt,
        correctionMs,
      });
      if (isFault(event)) rejected.push({ session: index, event: position, ...event });
      else events.push(event);
    }
    if (events.length > 0) valid.push({ index, ...session, events });
  }
  return { sessions: valid, rejected };
}

interface Head extends Omit<ValidSession, 'index' | 'events'> {
  readonly correctionMs: number;
  readonly sentEvents: readonly unknown[];
}

/** A session without its events; what is wrong here rejects it whole. */
function validateHead(sent: unknown, rules: Rules, requestUserAgent: string): Head | Fault {
  const parsed = SessionSchema.safeParse(sent);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') || 'session';
    return { code: 'invalid_session', message: `${where}: ${issue?.message ?? 'invalid'}` };
  }
  const { id, events, ...session } = parsed.data;
  const context = session.context ?? NO_CONTEXT;
  const userAgent = context.userAgent ?? requestUserAgent;
  if (isBotSession(userAgent)) return { code: 'bot', message: 'The user agent is a bot.' };
  const visitorId = session.visitorId ?? rules.visitorId?.(userAgent);
  if (visitorId === undefined) return { code: 'invalid_session', message: 'visitorId: is missing' };
  const correctionMs = rules.correction?.(id, session.startedAt) ?? 0;
  const startedAt = epochMs(session.startedAt + correctionMs);
  return { id, visitorId, startedAt, context, userAgent, correctionMs, sentEvents: events };
}
