import { randomUUID } from 'node:crypto';
import { EVENTS_IN_FILL, fill, heavyQuestion } from '../test/faults/heavy.ts';
import type { App, Running, Tenant } from '../test/faults/support.ts';
import { type EventStream, openStream } from '../test/support/event-stream.ts';
import type { Stream } from '../test/support/open-loop.ts';
import { QUESTIONS, questionPath } from '../test/support/questions.ts';
import type { Stored } from './counted.ts';

export type Kind = 'poll' | 'question' | 'store' | 'late';

const SITES = 4;
/** The share of each kind of request. */
const SHARES: Readonly<Record<Kind, number>> = { poll: 0.62, question: 0.06, store: 0.25, late: 0.07 };
/** Batches that each app begins with. Most of them are sealed at once. */
const FIRST_BATCHES = 2;
const EVENTS_IN_BATCH = 20;
const DAY_MS = 86_400_000;

/** An app that is polled, asked, fed and watched, until another one takes its place. */
interface Site {
  readonly tenant: Tenant;
  app: App;
  tags: Map<string, string>;
  stream: EventStream;
  /** Of the app that it has now. */
  pageviews: Pageviews;
  /** Requests without an answer yet. */
  readonly underWay: Set<Promise<number>>;
}

interface Pageviews {
  acknowledged: number;
  unanswered: number;
}

/** Sites on a service. Call `close` at the end. */
export class Sites {
  readonly #service: Running;
  readonly #sites: Site[] = [];
  #turn = 0;
  #replaced = 0;
  #closed = false;
  /** Answers that came by event streams, streams that ended unasked, stored events. */
  readonly counts = { streamed: 0, broken: 0, events: 0 };

  private constructor(service: Running) {
    this.#service = service;
  }

  static async open(service: Running): Promise<Sites> {
    const sites = new Sites(service);
    for (let i = 0; i < SITES; i++) {
      const tenant = await service.newTenant();
      const pageviews = await sites.#fill(tenant.app);
      const stream = await sites.#watch(tenant, tenant.app);
      const { app } = tenant;
      const site: Site = { tenant, app, tags: new Map(), stream, pageviews, underWay: new Set() };
      sites.#sites.push(site);
    }
    return sites;
  }

  /** The load: so many requests a second in all. */
  load(perSecond: number): Stream<Kind>[] {
    return this.#sites.flatMap((site) =>
      (Object.keys(SHARES) as Kind[]).map((kind) => ({
        kind,
        perSecond: (perSecond * SHARES[kind]) / SITES,
        ask: () => {
          const asked = this.#ask[kind](site);
          site.underWay.add(asked);
          return asked.finally(() => site.underWay.delete(asked));
        },
      })),
    );
  }

  /** Makes an app in the place of the oldest one, and deletes that with its data. */
  async replaceOne(): Promise<void> {
    const site = this.#sites[this.#replaced++ % SITES];
    if (site === undefined) return;
    const { app: old, stream, tenant } = site;
    const app = await this.#service.newApp(tenant.key);
    const pageviews = await this.#fill(app);
    const next = await this.#watch(tenant, app);
    const underWay = [...site.underWay];
    Object.assign(site, { app, stream: next, tags: new Map(), pageviews });
    stream.close();
    // They ask the old app.
    await Promise.allSettled(underWay);
    await this.#service.admin('app', 'delete', '--app', old.id, '--yes');
  }

  /** What the service acknowledged for the apps of now. Call it when no request is under way. */
  get stored(): Stored[] {
    return this.#sites.map(({ app, tenant, pageviews: { acknowledged, unanswered } }) => ({
      appId: app.id,
      key: tenant.key,
      pageviews: acknowledged,
      unanswered,
    }));
  }

  close(): void {
    this.#closed = true;
    for (const { stream } of this.#sites) stream.close();
  }

  readonly #ask: Readonly<Record<Kind, (site: Site) => Promise<number>>> = {
    poll: async ({ app, tags, tenant: { key } }) => {
      const question = QUESTIONS[this.#turn++ % QUESTIONS.length];
      if (question === undefined) throw new Error('no questions');
      const path = questionPath(question, app.id);
      const known = tags.get(path);
      const headers = known === undefined ? {} : { 'If-None-Match': known };
      const answer = await this.#service.ask(path, { key, headers });
      tags.set(path, answer.headers['etag'] ?? '');
      return answer.status;
    },
    question: async ({ app, tenant: { key } }) =>
      (await this.#service.ask(heavyQuestion(app), { key })).status,
    store: (site) => this.#store(site, Date.now() - 1_000),
    late: (site) => this.#store(site, Date.now() - DAY_MS * (1 + (this.#turn % 20))),
  };

  async #store({ app, pageviews }: Site, at: number): Promise<number> {
    const startedAt = new Date(at).toISOString();
    const events = Array.from({ length: EVENTS_IN_BATCH }, (_, i) => ({
      type: 'pageview',
      timestamp: startedAt,
      path: `/page/${(this.#turn * 7 + i * 13) % 500}`,
    }));
    const sessions = [{ id: randomUUID(), visitorId: `v${this.#turn++ % 5_000}`, startedAt, events }];
    const body = { appId: app.id, secretKey: app.secretKey, batchId: randomUUID(), sessions };
    pageviews.unanswered += EVENTS_IN_BATCH;
    const { status } = await this.#service.ask('/sdk/v1/events', { method: 'POST', body });
    if (status !== 200) return status;
    pageviews.unanswered -= EVENTS_IN_BATCH;
    pageviews.acknowledged += EVENTS_IN_BATCH;
    this.counts.events += EVENTS_IN_BATCH;
    return status;
  }

  async #fill(app: App): Promise<Pageviews> {
    await fill(this.#service, app, FIRST_BATCHES);
    this.counts.events += FIRST_BATCHES * EVENTS_IN_FILL;
    return { acknowledged: (FIRST_BATCHES * EVENTS_IN_FILL) / 4, unanswered: 0 };
  }

  /** Opens a stream of an app's figures, and counts what comes until the app is replaced. */
  async #watch({ key }: Tenant, app: App): Promise<EventStream> {
    const path = `/api/v1/sessions/overview/kpis?appId=${app.id}`;
    const stream = await openStream(this.#service.url, path, { key });
    const read = async (): Promise<void> => {
      while ((await stream.next()) !== null) this.counts.streamed++;
      const isInUse = this.#sites.some((site) => site.stream === stream);
      if (isInUse && !this.#closed) this.counts.broken++;
    };
    void read();
    return stream;
  }
}
