import { DAY_MS, type EpochMs, epochMs, MINUTE_MS } from '../domain/time.ts';
import { MAX_LENGTH } from './context.ts';
import { parseInstant } from './instant.ts';
import { readProperties } from './properties.ts';
import { cleanText, cutText, wellFormed } from './text.ts';

/** The reason why a part of a batch was left out. */
export type RejectionCode =
  | 'invalid_session'
  | 'bot'
  | 'beyond_retention'
  | 'invalid_event'
  | 'timestamp_too_old'
  | 'timestamp_in_future'
  | 'outside_session';

/** The fault of a session or an event. */
export interface Fault {
  readonly code: RejectionCode;
  readonly message: string;
}

export type EventType = 'pageview' | 'click' | 'error' | 'engagement' | 'custom';

export interface ValidEvent {
  /** Its index in the session as sent. */
  readonly position: number;
  readonly type: EventType;
  readonly timestamp: EpochMs;
  readonly path: string;
  /** Click target, error message or custom event's name; '' for none. */
  readonly label: string;
  /** For engagement only; otherwise 0. */
  readonly durationMs: number;
  /** Of a custom event, in the form of `readProperties`; otherwise ''. */
  readonly properties: string;
}

/** The context of an event's rules. */
export interface EventRules {
  readonly now: EpochMs;
  readonly maxAgeDays: number | null;
  /** The session's start, corrected. */
  readonly startedAt: EpochMs;
  /** Added to the sender's times. */
  readonly correctionMs: number;
}

const MAX_SESSION_MS = DAY_MS;
const MAX_AHEAD_MS = 5 * MINUTE_MS;
const MAX_DURATION_MS = 86_400_000;

export const isFault = (checked: object): checked is Fault => 'code' in checked;
const wrong = (message: string): Fault => ({ code: 'invalid_event', message });

/** Returns the event at `position` in its stored form, or its fault. Pure. */
export function validateEvent(sent: unknown, position: number, rules: EventRules): ValidEvent | Fault {
  if (typeof sent !== 'object' || sent === null) return wrong('An event is an object.');
  const event = sent as Readonly<Record<string, unknown>>;
  const timestamp = validateTimestamp(event['timestamp'], rules);
  if (typeof timestamp !== 'number') return timestamp;
  const path = validatePath(event['path']);
  if (path === null) return wrong('path: must be a string that starts with "/".');
  switch (event['type']) {
    case 'pageview':
      return { position, timestamp, path, type: 'pageview', label: '', durationMs: 0, properties: '' };
    case 'click': {
      const target = event['target'] ?? '';
      if (typeof target !== 'string') return wrong('target: must be a string.');
      const label = cleanText(target, MAX_LENGTH.target);
      return { position, timestamp, path, type: 'click', label, durationMs: 0, properties: '' };
    }
    case 'error': {
      const label = requiredText(event['message'], MAX_LENGTH.message);
      if (label === '') return wrong(TEXT_NEEDED('message'));
      return { position, timestamp, path, type: 'error', label, durationMs: 0, properties: '' };
    }
    case 'custom': {
      const label = requiredText(event['name'], MAX_LENGTH.name);
      if (label === '') return wrong(TEXT_NEEDED('name'));
      const properties = readProperties(event['properties']);
      if (typeof properties !== 'string') return wrong(properties.message);
      return { position, timestamp, path, type: 'custom', label, durationMs: 0, properties };
    }
    case 'engagement': {
      const durationMs = event['durationMs'];
      if (!isDuration(durationMs))
        return wrong(`durationMs: must be a whole number from 0 to ${MAX_DURATION_MS}.`);
      return { position, timestamp, path, type: 'engagement', label: '', durationMs, properties: '' };
    }
    default:
      return wrong('type: must be pageview, click, error, engagement or custom.');
  }
}

const TEXT_NEEDED = (field: string): string => `${field}: must be a string that is not blank.`;

const requiredText = (value: unknown, max: number): string =>
  typeof value === 'string' ? cleanText(value, max) : '';

const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_DURATION_MS;

/** Returns the path without query and fragment; null if it is no path. */
export function validatePath(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const clean = wellFormed(value);
  if (!clean.startsWith('/')) return null;
  const end = clean.search(/[?#]/);
  return cutText(end < 0 ? clean : clean.slice(0, end), MAX_LENGTH.path);
}

function validateTimestamp(value: unknown, rules: EventRules): EpochMs | Fault {
  const sent = typeof value === 'string' ? parseInstant(value) : null;
  if (sent === null) return wrong('timestamp: must be an RFC 3339 date-time, such as 2026-11-20T07:16:00Z.');
  const timestamp = sent + rules.correctionMs;
  const { startedAt } = rules;
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
