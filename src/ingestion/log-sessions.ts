import { createHash } from 'node:crypto';
import { DAY_MS, type EpochMs, MINUTE_MS, toIso } from '../domain/time.ts';
import type { LogRequest } from './combined-log.ts';

/** A session as in a batch of the SDK. */
export interface LogSession {
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: string;
  readonly context: { readonly referrer: string; readonly userAgent: string };
  readonly events: readonly {
    readonly type: 'pageview';
    readonly timestamp: string;
    readonly path: string;
  }[];
}

const IDLE_MS = 30 * MINUTE_MS;

interface Visitor {
  readonly address: string;
  readonly userAgent: string;
  readonly requests: { readonly at: EpochMs; readonly path: string; readonly referrer: string }[];
}

/**
 * Collects the requests of a log, in any order, and groups them into sessions by address and user agent. A
 * session ends after more than 30 minutes without a request, or after 24 hours. Holds the whole log in
 * memory, about 100 bytes per request; equal texts are kept once.
 */
export class LogSessions {
  readonly #app: string;
  readonly #visitors = new Map<string, Visitor>();
  readonly #texts = new Map<string, string>();

  /** `app` is hashed into the ids, so that a visitor cannot be followed from one app to another. */
  constructor(app: string) {
    this.#app = app;
  }

  add({ address, at, path, referrer, userAgent }: LogRequest): void {
    const key = `${address} ${userAgent}`;
    let visitor = this.#visitors.get(key);
    if (visitor === undefined) {
      visitor = { address, userAgent: this.#once(userAgent), requests: [] };
      this.#visitors.set(key, visitor);
    }
    visitor.requests.push({ at, path: this.#once(path), referrer: this.#once(referrer) });
  }

  /** Returns the sessions by their start, so that an import fills the store in the order of time. */
  sessions(): LogSession[] {
    const sessions = [...this.#visitors.values()].flatMap((visitor) => this.#split(visitor));
    return sessions.sort((a, b) => (a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0));
  }

  #split({ address, userAgent, requests }: Visitor): LogSession[] {
    // The address is hashed and never stored.
    const visitorId = idOf(`${this.#app} ${address} ${userAgent}`);
    const groups: Visitor['requests'][] = [];
    for (const request of requests.sort((a, b) => a.at - b.at)) {
      const group = groups.at(-1);
      const [first, last] = [group?.at(0), group?.at(-1)];
      const goesOn =
        first !== undefined &&
        last !== undefined &&
        request.at - last.at <= IDLE_MS &&
        request.at - first.at <= DAY_MS;
      if (goesOn) group?.push(request);
      else groups.push([request]);
    }
    return groups.flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const startedAt = toIso(first.at);
      return {
        id: idOf(`${visitorId} ${startedAt}`),
        visitorId,
        startedAt,
        context: { referrer: first.referrer, userAgent },
        events: group.map(({ at, path }) => ({ type: 'pageview', timestamp: toIso(at), path })),
      };
    });
  }

  /** Returns a shared copy. The parser's texts are slices, which would keep their whole line in memory. */
  #once(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const copy = Buffer.from(text).toString();
    this.#texts.set(copy, copy);
    return copy;
  }
}

const idOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
