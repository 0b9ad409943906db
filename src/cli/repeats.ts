import { createHash } from 'node:crypto';
import type { EpochMs } from '../domain/time.ts';
import { eventIdentity } from '../ingestion/history.ts';
import { parseInstant } from '../ingestion/instant.ts';
import type { ValidSession } from '../ingestion/validate.ts';
import { validateSessions } from '../ingestion/validate.ts';

/** V8 holds 16.7 million entries per Map. */
const SHARDS = 64;

/** What the file has told of a session before this item of it. */
export interface Repeated {
  /** Null where the service will not find it valid. */
  readonly key: string | null;
  /** Null for one that did not come before: it can be sent as it stands. Else with its events' occurrences. */
  readonly counted: SentSession | null;
}

export interface SentSession {
  readonly events: readonly object[];
}

/**
 * Sessions that come in several lines of a file. An event may then equal one of an earlier line, and says by `occurrence`
 * the how manieth of its equals it is. Of a session that came once only its line's place is kept, about 60 bytes.
 */
export class Repeats {
  readonly #now: EpochMs;
  readonly #lineAt: (offset: number) => Promise<string>;
  /** Where a session came first; below 0 (-1 - offset) once something of it was stored. */
  readonly #places = Array.from({ length: SHARDS }, () => new Map<string, number>());
  readonly #counts = new Map<string, Map<string, number>>();

  /** `lineAt` reads a line again. */
  constructor(now: EpochMs, lineAt: (offset: number) => Promise<string>) {
    this.#now = now;
    this.#lineAt = lineAt;
  }

  /** `always`: counted also if it is the first. */
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

  /** Notes that something of a session was stored; true the first time. */
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

/** Wrong events are left as they are, to be rejected by the service. */
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

/** What makes a session one, shortened; null where the service will not find it valid. */
function keyOf(sent: unknown): string | null {
  if (typeof sent !== 'object' || sent === null) return null;
  const { id, startedAt } = sent as Readonly<Record<string, unknown>>;
  const start = typeof startedAt === 'string' ? parseInstant(startedAt) : null;
  if (typeof id !== 'string' || start === null) return null;
  return createHash('sha1').update(`${id} ${start}`).digest('base64').slice(0, 16);
}
