import { LRUCache } from 'lru-cache';
import type { AppId } from '../domain/ids.ts';

/** Sessions are told apart by when they started, in steps of this: one that goes on has those of its step read again. */
export const STEP_MS = 10_000;
export const stepOf = (ms: number): number => Math.floor(ms / STEP_MS);

/** A session that is not sealed, as it was when it was read. */
export interface LiveSession {
  /** Epoch ms. */
  readonly startedAt: number;
  /** How many it has. */
  readonly events: number;
  readonly visitor: string;
  readonly bounced: number;
  readonly duration_ms: number;
  readonly pageviews: number;
  readonly clicks: number;
  readonly errors: number;
  /** What it is listed under. */
  readonly words: readonly string[];
}

/** With its words by number. */
export interface KeptSession extends Omit<LiveSession, 'words'> {
  readonly words: readonly number[];
}

/** What a session takes, about, and a word. */
const SESSION_BYTES = 500;
const WORD_BYTES = 150;
const MOST_WORD_BYTES = 1024 ** 2;

/** The sessions of a step. */
export interface Step {
  /** Of all of them. */
  readonly events: number;
  readonly sessions: readonly KeptSession[];
}

/** An app's sessions as they were read last, by step. Events are only ever added: a step of as many events holds the same sessions. */
export class LiveSessions {
  readonly #steps = new Map<number, Step>();
  readonly #words: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** The step, where it is known as it is with so many events. */
  step(step: number, events: number): Step | undefined {
    const known = this.#steps.get(step);
    return known?.events === events ? known : undefined;
  }

  /** Keeps all sessions of these steps, and returns them. What somebody else has read later stays kept. */
  keep(steps: readonly number[], sessions: readonly LiveSession[]): Step[] {
    const read = new Map(steps.map((step): [number, LiveSession[]] => [step, []]));
    for (const session of sessions) read.get(stepOf(session.startedAt))?.push(session);
    return [...read].map(([number, own]) => {
      const step = {
        events: own.reduce((sum, { events }) => sum + events, 0),
        sessions: own.map((session) => ({
          ...session,
          words: session.words.map((word) => this.#numberOf(word)),
        })),
      };
      if (step.events >= (this.#steps.get(number)?.events ?? 0)) this.#steps.set(number, step);
      return step;
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

  /** Forgets the steps before that of `ms`. */
  forgetBefore(ms: number): void {
    for (const step of this.#steps.keys()) if (step < stepOf(ms)) this.#steps.delete(step);
  }

  /** How many of the sessions, which are of this app, are listed under each word. */
  countWords(sessions: readonly KeptSession[]): (readonly [word: string, sessions: number])[] {
    const counts = new Uint32Array(this.#words.length);
    for (const { words } of sessions) for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
    return this.#words.map((word, i) => [word, counts[i] ?? 0] as const).filter(([, count]) => count > 0);
  }

  /** What they take, about. Words are kept for longer than their sessions. */
  get bytes(): { readonly sessions: number; readonly words: number } {
    let sessions = 0;
    for (const step of this.#steps.values()) sessions += step.sessions.length;
    return { sessions: (sessions + 1) * SESSION_BYTES, words: this.#words.length * WORD_BYTES };
  }
}

const DEFAULT_BYTES = 16 * 1024 ** 2;
/** Of one app: to count more of them for each question would hold up other questions. */
const MOST_SESSIONS = 16_000;
/** Apps that were asked about once. */
const MOST_SEEN = 10_000;

/** The live sessions of apps that are asked about again and again, least recently used out first. */
export class LiveCache {
  readonly #kept: LRUCache<AppId, LiveSessions> | null;
  readonly #seen = new LRUCache<AppId, true>({ max: MOST_SEEN });
  /** Of one app: more are not worth to be read. */
  readonly mostSessions: number;

  /** `maxBytes`, about, are kept at most; 0: nothing. */
  constructor(maxBytes = DEFAULT_BYTES) {
    this.mostSessions = Math.min(MOST_SESSIONS, Math.floor(maxBytes / 2 / SESSION_BYTES));
    // An app for which there is no room begins again.
    const dispose = (_: LiveSessions, app: AppId, reason: string): void => {
      if (reason === 'evict') this.#seen.delete(app);
    };
    this.#kept = maxBytes === 0 ? null : new LRUCache({ maxSize: maxBytes, dispose });
  }

  /** The app's sessions, none the first time; null where it was not asked about before, or nothing can be kept. */
  of(app: AppId): LiveSessions | null {
    if (this.#kept === null) return null;
    const isRepeated = this.#seen.has(app);
    this.#seen.set(app, true);
    return isRepeated ? (this.#kept.get(app) ?? new LiveSessions()) : null;
  }

  /** Keeps them, for as long as there is room; not where they are mostly words of sessions that are gone. */
  keep(app: AppId, live: LiveSessions): void {
    const { sessions, words } = live.bytes;
    if (words > MOST_WORD_BYTES && words > sessions) this.#kept?.delete(app);
    else this.#kept?.set(app, live, { size: sessions + words });
  }

  /** For measurements: as if nobody had asked yet. */
  clear(): void {
    this.#kept?.clear();
    this.#seen.clear();
  }
}
