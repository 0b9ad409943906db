import { type EpochMs, EVER, epochMs, toIso } from '../domain/time.ts';
import { isBotSession } from './bots.ts';
import { type Context, MAX_LENGTH, readContext } from './context.ts';
import { parseInstant } from './instant.ts';
import { cleanText } from './text.ts';
import { type Fault, isFault, type ValidEvent, validateEvent } from './validate-event.ts';

/** A session or event that was left out of a batch. */
export interface Rejection extends Fault {
  /** The session's index in the batch. */
  readonly session: number;
  /** The event's index in the session; null if the whole session is left out. */
  readonly event: number | null;
}

export interface ValidSession {
  /** Its index in the batch. */
  readonly index: number;
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: EpochMs;
  readonly context: Context;
  /** The session's own user agent, or else the request's. */
  readonly userAgent: string;
  /** In the order of the batch, never empty. */
  readonly events: readonly ValidEvent[];
}

interface Validated {
  readonly sessions: readonly ValidSession[];
  readonly rejected: readonly Rejection[];
}

/** Returns how far a sender's clock is behind (positive) or ahead (negative), in ms, per session. */
export type Correction = (sessionId: string, startedAt: EpochMs) => number;

/** The context of the rules. */
export interface Rules {
  readonly now: EpochMs;
  /** Events before `now` minus this are too old. Null: history has no age limit. */
  readonly maxAgeDays: number | null;
  /** Sessions that started before this are refused: the app's raw events of that time expire. */
  readonly acceptedFrom?: EpochMs;
  /** The request's user agent, for sessions that name none. */
  readonly userAgent: string;
  /**
   * Derives a visitor id from the session's user agent, for sessions without one. If absent, they are
   * rejected.
   */
  readonly visitorId?: (userAgent: string) => string;
  /** True if the app leaves out the events of the request's address. */
  readonly isExcluded?: boolean;
  /** Corrects the sender's clock. */
  readonly correction?: Correction;
}

const ID = /^[A-Za-z0-9._:-]{1,64}$/;

const EXCLUDED: Fault = { code: 'excluded', message: 'The app leaves out the events of this address.' };
const wrong = (message: string): Fault => ({ code: 'invalid_session', message });

/**
 * Splits a batch into valid sessions and rejections, in the batch's order. Pure, apart from the functions in
 * `rules`.
 */
export function validateSessions(sessions: readonly unknown[], rules: Rules): Validated {
  const valid: ValidSession[] = [];
  const rejected: Rejection[] = [];
  const { now, maxAgeDays } = rules;
  const requestUserAgent = cleanText(rules.userAgent, MAX_LENGTH.userAgent);
  for (const [index, sent] of sessions.entries()) {
    const head = validateHead(sent, rules, requestUserAgent);
    if (isFault(head)) {
      rejected.push({ session: index, event: null, ...head });
      continue;
    }
    const { correctionMs, sentEvents, ...session } = head;
    const events: ValidEvent[] = [];
    const eventRules = { now, maxAgeDays, startedAt: session.startedAt, correctionMs };
    for (let position = 0; position < sentEvents.length; position++) {
      const event = validateEvent(sentEvents[position], position, eventRules);
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

/** Checks a session without its events. A fault here rejects the whole session. */
function validateHead(sent: unknown, rules: Rules, requestUserAgent: string): Head | Fault {
  if (typeof sent !== 'object' || sent === null) return wrong('A session is an object.');
  const fields = sent as Readonly<Record<string, unknown>>;
  const { id, visitorId: sentVisitor = null, startedAt: sentStart, events } = fields;
  if (!isId(id)) return wrong(ID_NEEDED('id'));
  if (sentVisitor !== null && !isId(sentVisitor)) return wrong(ID_NEEDED('visitorId'));
  const start = typeof sentStart === 'string' ? parseInstant(sentStart) : null;
  if (start === null) return wrong('startedAt: must be an RFC 3339 date-time, such as 2026-11-20T07:16:00Z.');
  const context = readContext(fields['context']);
  if (typeof context === 'string') return wrong(context);
  if (!Array.isArray(events)) return wrong('events: must be a list.');
  const userAgent = context.userAgent ?? requestUserAgent;
  if (rules.isExcluded === true) return EXCLUDED;
  if (isBotSession(userAgent)) return { code: 'bot', message: 'The user agent is a bot.' };
  const visitorId = sentVisitor ?? rules.visitorId?.(userAgent);
  if (visitorId === undefined) return wrong('visitorId: is missing.');
  const correctionMs = rules.correction?.(id, start) ?? 0;
  const startedAt = epochMs(start + correctionMs);
  if (startedAt < EVER.from) return wrong('startedAt: before 1970, by the clock of the service.');
  if (startedAt < (rules.acceptedFrom ?? 0)) {
    const message = `startedAt: before ${toIso(epochMs(rules.acceptedFrom ?? 0))}, where the app's retention begins.`;
    return { code: 'beyond_retention', message };
  }
  return { id, visitorId, startedAt, context, userAgent, correctionMs, sentEvents: events };
}

export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);
const ID_NEEDED = (field: string): string => `${field}: must be 1 to 64 of A-Z a-z 0-9 . _ : -.`;
