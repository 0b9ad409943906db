import { LRUCache } from 'lru-cache';
import type { AppId } from '../domain/ids.ts';

/**
 * Cached sessions are grouped by their start, in slots of this length. A new event of one session makes its
 * slot be read again.
 */
export const SLOT_MS = 10_000;
export const slotOf = (ms: number): number => Math.floor(ms / SLOT_MS);

/** An unsealed session, as it was when it was read. */
export interface LiveSession {
  /** Epoch ms. */
  readonly startedAt: number;
  readonly events: number;
  readonly visitor: string;
  readonly bounced: number;
  readonly duration_ms: number;
  readonly pageviews: number;
  readonly clicks: number;
  readonly errors: number;
  /** Keys of the lists in which the session is counted. */
  readonly words: readonly string[];
}

/** A cached session: its words by number. */
export interface CachedSession extends Omit<LiveSession, 'words'> {
  readonly words: readonly number[];
}

/** Estimated size of a session, and of a word. */
const SESSION_BYTES = 500;
const WORD_BYTES = 150;
const MOST_WORD_BYTES = 1024 ** 2;

export interface Slot {
  /** In all sessions of the slot. */
  readonly events: number;
  readonly sessions: readonly CachedSession[];
}

/**
 * The cached sessions of an app, by slot. Events are only ever added, so a slot with the same number of
 * events holds the same sessions.
 */
export class LiveSessions {
  readonly #slots = new Map<number, Slot>();
  readonly #words: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** Returns the cached slot if it has this number of events. */
  slot(slot: number, events: number): Slot | undefined {
    const known = this.#slots.get(slot);
    return known?.events === events ? known : undefined;
  }

  /**
   * Caches all sessions of these slots and returns them. A newer state that another question has cached
   * meanwhile stays.
   */
  keep(slots: readonly number[], sessions: readonly LiveSession[]): Slot[] {
    const read = new Map(slots.map((slot): [number, LiveSession[]] => [slot, []]));
    for (const session of sessions) read.get(slotOf(session.startedAt))?.push(session);
    return [...read].map(([number, own]) => {
      const slot = {
        events: own.reduce((sum, { events }) => sum + events, 0),
        sessions: own.map((session) => ({
          ...session,
          words: session.words.map((word) => this.#numberOf(word)),
        })),
      };
      if (slot.events >= (this.#slots.get(number)?.events ?? 0)) this.#slots.set(number, slot);
      return slot;
    });
  }

  #numberOf(word: string): number {
    let number = this.#numbers.get(word);
    if (number === undefined) {
      number = this.#words.push(word) - 1;
      this.#numbers.set(word, number);
    }
    return number;
  }

  /** Drops the slots before that of `ms`. */
  forgetBefore(ms: number): void {
    for (const slot of this.#slots.keys()) if (slot < slotOf(ms)) this.#slots.delete(slot);
  }

  /** Counts the given sessions, which belong to this app, by word. */
  countWords(sessions: readonly CachedSession[]): (readonly [word: string, sessions: number])[] {
    const counts = new Uint32Array(this.#words.length);
    for (const { words } of sessions) for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
    return this.#words.map((word, i) => [word, counts[i] ?? 0] as const).filter(([, count]) => count > 0);
  }

  /** Estimated size. Words stay longer than the sessions that use them. */
  get bytes(): { readonly sessions: number; readonly words: number } {
    let sessions = 0;
    for (const slot of this.#slots.values()) sessions += slot.sessions.length;
    return { sessions: (sessions + 1) * SESSION_BYTES, words: this.#words.length * WORD_BYTES };
  }
}

const DEFAULT_BYTES = 16 * 1024 ** 2;
/** Of one app. Counting more of them for each question would hold up other questions. */
const MOST_SESSIONS = 16_000;
/** Limit of the list of apps that were asked about once. */
const MOST_SEEN = 10_000;

/**
 * The unsealed sessions of apps that are asked about repeatedly. The least recently used app is dropped
 * first.
 */
export class LiveCache {
  readonly #cached: LRUCache<AppId, LiveSessions> | null;
  readonly #seen = new LRUCache<AppId, true>({ max: MOST_SEEN });
  /** The most unsealed sessions of one app that are cached. */
  readonly mostSessions: number;

  /** Holds about `maxBytes` at most; 0 turns the cache off. */
  constructor(maxBytes = DEFAULT_BYTES) {
    this.mostSessions = Math.min(MOST_SESSIONS, Math.floor(maxBytes / 2 / SESSION_BYTES));
    // An app that was evicted has to be asked about twice again.
    const dispose = (_: LiveSessions, app: AppId, reason: string): void => {
      if (reason === 'evict') this.#seen.delete(app);
    };
    this.#cached = maxBytes === 0 ? null : new LRUCache({ maxSize: maxBytes, dispose });
  }

  /**
   * Returns the app's sessions, empty at first; null for the app's first question, or if the cache is off.
   */
  of(app: AppId): LiveSessions | null {
    if (this.#cached === null) return null;
    const isRepeated = this.#seen.has(app);
    this.#seen.set(app, true);
    return isRepeated ? (this.#cached.get(app) ?? new LiveSessions()) : null;
  }

  /** Caches the app's sessions, unless most of their size is words of sessions that were dropped. */
  keep(app: AppId, live: LiveSessions): void {
    const { sessions, words } = live.bytes;
    if (words > MOST_WORD_BYTES && words > sessions) this.#cached?.delete(app);
    else this.#cached?.set(app, live, { size: sessions + words });
  }

  /** Empties the cache, for measurements. */
  clear(): void {
    this.#cached?.clear();
    this.#seen.clear();
  }
}
