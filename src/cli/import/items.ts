import type { EpochMs } from '../../domain/time.ts';
import { epochMs } from '../../domain/time.ts';
import { LogSessions, type SessionPart } from '../../ingestion/log-sessions.ts';
import { eventIdentity } from '../../ingestion/stored-events.ts';
import { validateSessions } from '../../ingestion/validate.ts';
import { Overlap, type Span } from './overlap.ts';
import type { SpoolRecord } from './spool.ts';

/** The limits of a request. */
export interface ChunkSize {
  readonly events: number;
  readonly characters: number;
}

/** The service stores a request of this size in one insert. */
export const CHUNK: ChunkSize = { events: 40_000, characters: 4 * 1024 ** 2 };

/** A session, or a part of one, as it is sent. */
export interface Item {
  /** JSON. */
  readonly text: string;
  readonly events: number;
  /** The same for all parts of a session. */
  readonly session: string;
  /** The session that has to be stored before this one; null if there is none. */
  readonly follows: string | null;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Where its first event comes from. */
  readonly input: number;
  readonly line: number;
}

/** Turns sorted records into items. The same records always give the same items. */
export interface Items {
  /** Records that are left out so far, because another file holds them, too. */
  readonly repeated: number;
  add(record: SpoolRecord): Item[];
  /** Returns those that are left. */
  end(): Item[];
}

interface SentSession {
  readonly events: readonly object[];
}

/**
 * Items of NDJSON. The lines of a session follow one another. A session of one line is sent as it is. If it has
 * several, an event may equal one of an earlier line: its `occurrence` then says which of its equals it is,
 * the 1st, 2nd, …
 */
export class SentItems implements Items {
  readonly repeated = 0;
  readonly #now: EpochMs;
  readonly #chunk: ChunkSize;
  #held: SpoolRecord | null = null;
  #isFirst = true;
  #counts = new Map<string, number>();

  /** A session that is larger than the chunk becomes several items. */
  constructor(now: EpochMs, chunk: ChunkSize) {
    this.#now = now;
    this.#chunk = chunk;
  }

  add(record: SpoolRecord): Item[] {
    const held = this.#held;
    this.#held = record;
    if (held === null) return [];
    const goesOn = held.key !== 0 && held.key === record.key && held.at === record.at;
    const items = this.#itemsOf(held, !goesOn);
    this.#isFirst = !goesOn;
    if (!goesOn && this.#counts.size > 0) this.#counts = new Map();
    return items;
  }

  end(): Item[] {
    return this.#held === null ? [] : this.#itemsOf(this.#held, true);
  }

  #itemsOf({ text, events, at, key, input, line }: SpoolRecord, isLast: boolean): Item[] {
    const [isFirst, session] = [this.#isFirst, `${at} ${key}`];
    const whole = { text, events, session, follows: null, isFirst, isLast, input, line };
    const parts = Math.ceil(Math.max(events / this.#chunk.events, text.length / this.#chunk.characters));
    // The importer sets `occurrence` itself; a file must not.
    if (isFirst && isLast && parts <= 1 && !text.includes('"occurrence"')) return [whole];
    const counted = this.#counted(JSON.parse(text));
    if (counted === null) return [whole];
    const size = Math.ceil(events / parts);
    return Array.from({ length: parts }, (_, part) => {
      const some = counted.events.slice(part * size, (part + 1) * size);
      return {
        ...whole,
        text: JSON.stringify({ ...counted, events: some }),
        events: some.length,
        isFirst: isFirst && part === 0,
        isLast: isLast && part === parts - 1,
      };
    });
  }

  /** Null for a session that the service will reject. Invalid events stay as they are, for it to reject. */
  #counted(sent: unknown): SentSession | null {
    const rules = { now: this.#now, maxAgeDays: null, userAgent: '' };
    const [session] = validateSessions([sent], rules).sessions;
    if (session === undefined) return null;
    const events = [...(sent as SentSession).events];
    for (const event of session.events) {
      const identity = eventIdentity(session, event);
      const occurrence = (this.#counts.get(identity) ?? 0) + 1;
      this.#counts.set(identity, occurrence);
      events[event.position] = { ...events[event.position], occurrence };
    }
    return { ...(sent as SentSession), events };
  }
}

/** The text of a record that is a pageview: visitor, user agent, path, referrer, and a hash of the line if there are several files. */
type LogText = readonly [string, string, string, string, number?];

/** Returns the text of a record for LogItems. */
export const logText = (...text: LogText): string => JSON.stringify(text);

/** Items of access logs. */
export class LogItems implements Items {
  readonly #sessions = new LogSessions();
  /** Null: there is one file. */
  readonly #overlap: Overlap | null;
  repeated = 0;
  #last: SpoolRecord | null = null;

  /** The spans of the files. */
  constructor(spans: readonly Span[]) {
    this.#overlap = spans.length > 1 ? new Overlap(spans) : null;
  }

  add(record: SpoolRecord): Item[] {
    const [visitorId, userAgent, path, referrer, line = 0] = JSON.parse(record.text) as LogText;
    if (this.#overlap?.isNew(record.at, line, record.input) === false) {
      this.repeated++;
      return [];
    }
    this.#last = record;
    return this.#sessions
      .add({ visitorId, userAgent, path, referrer, at: epochMs(record.at) })
      .map((part) => this.#item(part));
  }

  end(): Item[] {
    return this.#sessions.end().map((part) => this.#item(part));
  }

  /** The line is the one that ended the session: only lines with impossible times are ever named. */
  #item({ session, isFirst, isLast, follows }: SessionPart): Item {
    const { input = 0, line = 0 } = this.#last ?? {};
    return {
      text: JSON.stringify(session),
      events: session.events.length,
      session: `${session.visitorId} ${session.startedAt}`,
      follows: follows && `${session.visitorId} ${follows}`,
      isFirst,
      isLast,
      input,
      line,
    };
  }
}
