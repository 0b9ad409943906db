import { z } from 'zod';
import { DAY_MS, type EpochMs, epochMs, MINUTE_MS } from '../domain/time.ts';
import { type Context, ContextSchema, MAX_LENGTH, NO_CONTEXT } from './context.ts';
import { parseInstant } from './instant.ts';
import { cleanText, cutText } from './text.ts';
import { isBotSession } from './user-agent.ts';

/** Why something was left out of a batch. */
export type RejectionCode =
  | 'invalid_session'
  | 'bot'
  | 'invalid_event'
  | 'timestamp_too_old'
  | 'timestamp_in_future'
  | 'outside_session';

export interface Rejection {
  /** Index in the batch. */
  readonly session: number;
  /** Index in the session; null when all of the session is left out. */
  readonly event: number | null;
  readonly code: RejectionCode;
  readonly message: string;
}

export type EventType = 'pageview' | 'click' | 'error' | 'engagement' | 'custom';

export interface ValidEvent {
  /** Index in the session as sent. */
  readonly position: number;
  readonly type: EventType;
  readonly timestamp: EpochMs;
  readonly path: string;
  /** Click target, error message or custom event's name; '' for none. */
  readonly label: string;
  /** Engagement only, otherwise 0. */
  readonly durationMs: number;
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
}

const MAX_SESSION_MS = DAY_MS;
const MAX_AHEAD_MS = 5 * MINUTE_MS;
const MAX_DURATION_MS = 86_400_000;
const ID = /^[A-Za-z0-9._:-]{1,64}$/;

const Id = z.string().regex(ID, 'must be 1 to 64 of A-Z a-z 0-9 . _ : -');

const SessionSchema = z.object({
  id: Id,
  visitorId: Id,
  startedAt: z.string().transform((text, ctx) => {
    const at = parseInstant(text);
    if (at !== null) return at;
    ctx.addIssue({ code: 'custom', message: 'must be an RFC 3339 date-time, such as 2026-11-20T07:16:00Z' });
    return z.NEVER;
  }),
  context: ContextSchema.nullish(),
  events: z.array(z.unknown()),
});

/** Splits a batch into what can be stored and what cannot, in the batch's order. Pure. */
export function validateSessions(sessions: readonly unknown[], rules: Rules): Validated {
  const valid: ValidSession[] = [];
  const rejected: Rejection[] = [];
  const requestUserAgent = cleanText(rules.userAgent, MAX_LENGTH.userAgent);
  for (const [index, value] of sessions.entries()) {
    const parsed = SessionSchema.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const message = `${issue?.path.join('.') || 'session'}: ${issue?.message ?? 'invalid'}`;
      rejected.push({ session: index, event: null, code: 'invalid_session', message });
      continue;
    }
    const { id, visitorId, startedAt } = parsed.data;
    const context = parsed.data.context ?? NO_CONTEXT;
    const userAgent = context.userAgent ?? requestUserAgent;
    if (isBotSession(userAgent)) {
      rejected.push({ session: index, event: null, code: 'bot', message: 'The user agent is a bot.' });
      continue;
    }
    const events: ValidEvent[] = [];
    for (const [position, sent] of parsed.data.events.entries()) {
      const event = validateEvent(sent, position, startedAt, rules);
      if (isFault(event)) rejected.push({ session: index, event: position, ...event });
      else events.push(event);
    }
    if (events.length > 0) {
      valid.push({
        index,
        id,
        visitorId,
        startedAt,
        context,
        userAgent,
        events,
      });
    }
  }
  return { sessions: valid, rejected };
}

type Fault = Pick<Rejection, 'code' | 'message'>;

const isFault = (event: ValidEvent | Fault): event is Fault => 'code' in event;
const wrong = (message: string): Fault => ({ code: 'invalid_event', message });

function validateEvent(
  sent: unknown,
  position: number,
  startedAt: EpochMs,
  rules: Rules,
): ValidEvent | Fault {
  if (typeof sent !== 'object' || sent === null) return wrong('An event is an object.');
  const event = sent as Readonly<Record<string, unknown>>;
  const timestamp = validateTimestamp(event['timestamp'], startedAt, rules);
  if (typeof timestamp !== 'number') return timestamp;
  const path = validatePath(event['path']);
  if (path === null) return wrong('path: must be a string that starts with "/".');
  const base = { position, timestamp, path, label: '', durationMs: 0 };
  switch (event['type']) {
    case 'pageview':
      return { ...base, type: 'pageview' };
    case 'click': {
      const target = event['target'] ?? '';
      if (typeof target !== 'string') return wrong('target: must be a string.');
      return { ...base, type: 'click', label: cleanText(target, MAX_LENGTH.target) };
    }
    case 'error': {
      const message = requiredText(event['message'], MAX_LENGTH.message);
      return message === '' ? wrong(TEXT_NEEDED('message')) : { ...base, type: 'error', label: message };
    }
    case 'custom': {
      const name = requiredText(event['name'], MAX_LENGTH.name);
      return name === '' ? wrong(TEXT_NEEDED('name')) : { ...base, type: 'custom', label: name };
    }
    case 'engagement': {
      const durationMs = event['durationMs'];
      return isDuration(durationMs)
        ? { ...base, type: 'engagement', durationMs }
        : wrong(`durationMs: must be a whole number from 0 to ${MAX_DURATION_MS}.`);
    }
    default:
      return wrong('type: must be pageview, click, error, engagement or custom.');
  }
}

const TEXT_NEEDED = (field: string): string => `${field}: must be a string that is not empty.`;

const requiredText = (value: unknown, max: number): string =>
  typeof value === 'string' ? cleanText(value, max) : '';

const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_DURATION_MS;

/** Without query and fragment; null when it is no path. */
function validatePath(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const clean = cleanText(value, Number.POSITIVE_INFINITY);
  if (!clean.startsWith('/')) return null;
  const end = clean.search(/[?#]/);
  return cutText(end < 0 ? clean : clean.slice(0, end), MAX_LENGTH.path);
}

function validateTimestamp(value: unknown, startedAt: EpochMs, rules: Rules): EpochMs | Fault {
  const timestamp = typeof value === 'string' ? parseInstant(value) : null;
  if (timestamp === null)
    return wrong('timestamp: must be an RFC 3339 date-time, such as 2026-11-20T07:16:00Z.');
  if (rules.maxAgeDays !== null && timestamp < rules.now - rules.maxAgeDays * DAY_MS) {
    return { code: 'timestamp_too_old', message: `timestamp: older than ${rules.maxAgeDays} days.` };
  }
  if (timestamp > rules.now + MAX_AHEAD_MS) {
    return { code: 'timestamp_in_future', message: 'timestamp: more than 5 minutes ahead of the service.' };
  }
  if (timestamp < startedAt || timestamp > startedAt + MAX_SESSION_MS) {
    return { code: 'outside_session', message: 'timestamp: not within 24 h from startedAt.' };
  }
  return epochMs(timestamp);
}
