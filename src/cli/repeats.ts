import { createHash } from 'node:crypto';
import type { EpochMs } from '../domain/time.ts';
import { eventIdentity } from '../ingestion/history.ts';
import { parseInstant } from '../ingestion/instant.ts';
import type { ValidSession } from '../ingestion/validate.ts';
import { validateSessions } from '../ingestion/validate.ts';

/** V8 holds 16.7 million entries per Map. */
const SHARDS = 64;

/** A session of a file, seen together with its earlier lines. */
export interface Repeated {
  /** Null if the service will reject the session. */
  readonly key: string | null;
  /** The session with its events' occurrences. Null if it did not occur before and can be sent unchanged. */
  readonly counted: SentSession | null;
}

export interface SentSession {
  readonly events: readonly object[];
}

/**
 * Finds sessions that span several lines of a file. An event may equal one of an earlier line; its
 * `occurrence` then says which of its equals it is: the 1st, 2nd, … A session that occurred once costs about
 * 60 bytes: only its line's position is kept.
 */
export class Repeats {
  readonly #now: EpochMs;
  readonly #lineAt: (offset: number) => Promise<string>;
  /** The position of a session's first line, or -1 - position once a part of the session is stored. */
  readonly #places = Array.from({ length: SHARDS }, () => new Map<string, number>());
  readonly #counts = new Map<string, Map<string, number>>();

  /** `lineAt` reads an earlier line again. */
  constructor(now: EpochMs, lineAt: (offset: number) => Promise<string>) {
    this.#now = now;
    this.#lineAt = lineAt;
  }

  /** `always`: counts the session even if it is the first. */
  async add(sent: unknown, offset: number, always = false): Promise<Repeated> {
    const key = keyOf(sent);
    if (key === null) return { key, counted: null };
    const places = this.#placesOf(key);
    const place = places.get(key);
    if (place === undefined) places.set(key, offset);
    if (place === undefined && !always) return { key, counted: null };
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = new Map();
      this.#counts.set(key, counts);
      if (place !== undefined) {
        const first = await this.#lineAt(place < 0 ? -1 - place : place);
        this.#count(counts, JSON.parse(first));
      }
    }
    return { key, counted: this.#count(counts, sent) };
  }

  /** Records that a part of a session is stored. True the first time. */
  store(key: string): boolean {
    const places = this.#placesOf(key);
    const place = places.get(key) ?? 0;
    if (place < 0) return false;
    places.set(key, -1 - place);
    return true;
  }

  #placesOf(key: string): Map<string, number> {
    const places = this.#places[key.charCodeAt(0) % SHARDS];
    if (places === undefined) throw new Error('no such shard');
    return places;
  }

  /** Null for a session that is rejected as a whole. */
  #count(counts: Map<string, number>, sent: unknown): SentSession | null {
    const rules = { now: this.#now, maxAgeDays: null, userAgent: '' };
    const [session] = validateSessions([sent], rules).sessions;
    return session === undefined ? null : withOccurrences(counts, session, sent as SentSession);
  }
}

/** Adds occurrences. Invalid events stay as they are, for the service to reject. */
function withOccurrences(counts: Map<string, number>, session: ValidSession, sent: SentSession): SentSession {
  const events = [...sent.events];
  for (const event of session.events) {
    const identity = eventIdentity(session, event);
    const occurrence = (counts.get(identity) ?? 0) + 1;
    counts.set(identity, occurrence);
    events[event.position] = { ...events[event.position], occurrence };
  }
  return { ...sent, events };
}

/** A short hash of the session's identity; null if the service will reject the session. */
function keyOf(sent: unknown): string | null {
  if (typeof sent !== 'object' || sent === null) return null;
  const { id, startedAt } = sent as Readonly<Record<string, unknown>>;
  const start = typeof startedAt === 'string' ? parseInstant(startedAt) : null;
  if (typeof id !== 'string' || start === null) return null;
  return createHash('sha1').update(`${id} ${start}`).digest('base64').slice(0, 16);
}
