import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { App, Running } from '../test/faults/support.ts';

const PLAN_APPS = 100;
/** Apps that are made, or filled, at once. */
const AT_ONCE = 4;
const EVENTS_IN_SESSION = 10;
const SPACING_MS = 5_000;
const MOST_EVENTS_IN_BATCH = 4_000;
/** Events in a batch of the load: two sessions. */
export const EVENTS_IN_BATCH = 2 * EVENTS_IN_SESSION;
const HISTORY_DAYS = 30;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const VISITORS = 5_000;
const PATHS = 300;

/** An app, and the number of its events that were acknowledged. */
export interface CrowdApp extends App {
  readonly key: string;
  /** Its place among the apps. */
  readonly nth: number;
  events: number;
}

export interface CrowdSize {
  readonly apps: number;
  readonly large: number;
  readonly largeEvents: number;
  readonly smallEvents: number;
}

const Accepted = z.object({ accepted: z.number(), duplicate: z.literal(true).optional() });
const NO_ANSWER = 0;
const PAUSE_MS = 1_000;

/** Many apps of a service, in accounts of a hundred. The first ones are large. */
export class Crowd {
  readonly #service: Running;
  readonly #size: CrowdSize;
  readonly apps: CrowdApp[] = [];
  /** Batches that were not acknowledged. Some of them may be stored: their sender only waited too long. */
  readonly #refused: (() => Promise<number>)[] = [];
  #turn = 0;

  constructor(service: Running, size: CrowdSize) {
    this.#service = service;
    this.#size = size;
  }

  get large(): readonly CrowdApp[] {
    return this.apps.slice(0, this.#size.large);
  }

  get small(): readonly CrowdApp[] {
    return this.apps.slice(this.#size.large);
  }

  /** The apps that get events: as large a share of them is large as of all apps. */
  active(count: number): readonly CrowdApp[] {
    const every = this.apps.length / Math.min(count, this.apps.length);
    return Array.from(
      { length: Math.min(count, this.apps.length) },
      (_, i) => this.apps[Math.floor(i * every)],
    ).flatMap((app) => app ?? []);
  }

  /** Makes the apps. `step` is called for each hundred. */
  async make(step: () => void, signal: AbortSignal): Promise<void> {
    while (this.apps.length < this.#size.apps) {
      step();
      const { key, app } = await this.#service.newTenant();
      this.#add(app, key);
      const more = Math.min(PLAN_APPS - 1, this.#size.apps - this.apps.length);
      await each(Array.from({ length: more }), signal, async () => {
        this.#add(await this.#service.newApp(key), key);
      });
    }
  }

  /** Stores each app's history of 30 days. */
  async fill(step: () => void, signal: AbortSignal): Promise<void> {
    const now = Date.now();
    let filled = 0;
    await each(this.apps, signal, async (app) => {
      if (filled++ % PLAN_APPS === 0) step();
      const count = app.nth < this.#size.large ? this.#size.largeEvents : this.#size.smallEvents;
      await this.#store(app, count, (share) => now - HOUR_MS - share * HISTORY_DAYS * DAY_MS, signal);
    });
  }

  /** Stores events of the whole hour from `start` on: `count` for each of these apps. */
  async fillHour(
    apps: readonly CrowdApp[],
    start: number,
    count: number,
    signal: AbortSignal,
  ): Promise<void> {
    const last = HOUR_MS - EVENTS_IN_SESSION * SPACING_MS;
    await each(apps, signal, (app) => this.#store(app, count, (share) => start + share * last, signal));
  }

  /** Sends a batch of events of now. Resolves to the status. */
  async send(apps: readonly CrowdApp[]): Promise<number> {
    const app = apps[this.#turn % apps.length];
    if (app === undefined) throw new Error('no apps');
    const start = Date.now() - EVENTS_IN_SESSION * SPACING_MS;
    const post = this.#batch(app, [start, start]);
    const status = await post().catch(() => NO_ANSWER);
    if (status !== 200) this.#refused.push(post);
    return status;
  }

  /** Sends the refused batches again until each is acknowledged, as their senders do. */
  async sendAgain(signal: AbortSignal): Promise<void> {
    await each(this.#refused.splice(0), signal, (post) => untilStored(post, signal));
  }

  #add(app: App, key: string): void {
    this.apps.push({ ...app, key, nth: this.apps.length, events: 0 });
  }

  /** Stores `count` events in sessions that begin at `at(share)`, for shares from 0 to 1. */
  async #store(
    app: CrowdApp,
    count: number,
    at: (share: number) => number,
    signal: AbortSignal,
  ): Promise<void> {
    const sessions = Math.ceil(count / EVENTS_IN_SESSION);
    const most = MOST_EVENTS_IN_BATCH / EVENTS_IN_SESSION;
    for (let from = 0; from < sessions; from += most) {
      const starts = Array.from({ length: Math.min(most, sessions - from) }, (_, i) =>
        at((from + i) / sessions),
      );
      await untilStored(this.#batch(app, starts), signal);
    }
  }

  /** Returns a function that posts the batch, each time with the same id, and resolves to the status. */
  #batch(app: CrowdApp, starts: readonly number[]): () => Promise<number> {
    const sessions = starts.map((start) => this.#session(Math.floor(start)));
    const body = JSON.stringify({ appId: app.id, secretKey: app.secretKey, batchId: randomUUID(), sessions });
    return async () => {
      const { status, json } = await this.#service.ask('/sdk/v1/events', { method: 'POST', body });
      if (status !== 200) return status;
      const { accepted, duplicate } = Accepted.parse(json);
      app.events += duplicate === true ? starts.length * EVENTS_IN_SESSION : accepted;
      return status;
    };
  }

  #session(start: number): object {
    const n = this.#turn++;
    const events = Array.from({ length: EVENTS_IN_SESSION }, (_, i) => ({
      type: 'pageview',
      timestamp: new Date(start + i * SPACING_MS).toISOString(),
      path: `/page/${(n * 7 + i * 13) % PATHS}`,
    }));
    const context = {
      utm: { source: `source ${n % 20}` },
      location: { country: 'IR', city: `City ${n % 16}` },
    };
    const startedAt = new Date(start).toISOString();
    return { id: randomUUID(), visitorId: `v${n % VISITORS}`, startedAt, context, events };
  }
}

/** Sends a batch again until it is acknowledged, as its sender does. Throws if it can never be. */
async function untilStored(post: () => Promise<number>, signal: AbortSignal): Promise<void> {
  for (;;) {
    const status = await post().catch(() => NO_ANSWER);
    if (status === 200) return;
    if (status !== 503 && status !== NO_ANSWER) throw new Error(`the service refused a batch: ${status}`);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** Does `work` for each value, some at once. */
async function each<T>(
  values: readonly T[],
  signal: AbortSignal,
  work: (value: T) => Promise<void>,
): Promise<void> {
  const rest = values.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const value of rest) {
        signal.throwIfAborted();
        await work(value);
      }
    }),
  );
}
