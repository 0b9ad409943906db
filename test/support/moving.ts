import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { halfHour } from './half-hour.ts';
import { KNOWN_DOMAIN, known, USER_AGENTS } from './oracle/known.ts';
import type { Delivery, SentEvent } from './oracle/model.ts';
import { createOracle, type Oracle } from './oracle/oracle.ts';
import type { ServiceProcess } from './service-process.ts';

/** An app that is asked about while its events are being stored. */
export interface Site {
  /** One for each process of the service. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly app: AppId;
  readonly secretKey: string;
}

/** Makes an account with a key and an app. */
export async function newSite(processes: readonly ServiceProcess[]): Promise<Site> {
  const [service] = processes;
  if (service === undefined) throw new Error('no process');
  const account = await service.admin('account', 'create', '--name', 'Acme', '--plan', 'pro');
  const { accountId } = z.object({ accountId: z.string() }).parse(account);
  const key = await service.admin('key', 'create', '--account', accountId);
  const { apiKey } = z.object({ apiKey: z.string() }).parse(key);
  return siteOf(
    processes.map(({ url }) => url),
    apiKey,
  );
}

/** Creates the app of an account that has none yet. */
export async function siteOf(urls: readonly string[], apiKey: string): Promise<Site> {
  const create = () =>
    fetch(`${urls[0]}/api/v1/apps`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Shop', domain: KNOWN_DOMAIN }),
    });
  let response = await create();
  // Redis, which has the lock, may answer late.
  for (; response.status === 503; response = await create()) await sleep(100);
  const made = z.object({ id: z.string(), secretKey: z.string() }).parse(await response.json());
  return { urls, apiKey, app: appId(made.id), secretKey: made.secretKey };
}

interface Question {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly isList: boolean;
  readonly expected: (oracle: Oracle, app: AppId) => unknown;
}

const iso = (at: number): string => new Date(at).toISOString();
const OPEN = { from: null, to: null };
/** All events lie after this instant, within a day, and within all windows that follow the clock. */
const BEGIN = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 20 * HOUR_MS;
const RANGE = { from: epochMs(BEGIN), to: epochMs(BEGIN + 12 * HOUR_MS - 1) };
const IN_RANGE = { from: iso(RANGE.from), to: iso(RANGE.to) };

const QUESTIONS: readonly Question[] = [
  { path: 'sessions/data-bounds', query: {}, isList: false, expected: (of, app) => of.dataBounds(app) },
  {
    path: 'sessions/overview/extended',
    query: {},
    isList: false,
    expected: (of, app) => of.overview(app, OPEN),
  },
  {
    path: 'sessions/overview/kpis',
    query: IN_RANGE,
    isList: false,
    expected: (of, app) => of.kpis(app, RANGE),
  },
  { path: 'sessions/pageviews', query: {}, isList: true, expected: (of, app) => of.pageviews(app, OPEN) },
  { path: 'sessions/timespent', query: {}, isList: true, expected: (of, app) => of.timeSpent(app, OPEN) },
  {
    path: 'sessions/events',
    query: { type: 'click' },
    isList: true,
    expected: (of, app) => of.events(app, OPEN, { type: 'click', property: null }),
  },
  { path: 'sessions/user-growth', query: {}, isList: true, expected: (of, app) => of.userGrowth(app, OPEN) },
  {
    path: 'sessions/traffic-heatmap',
    query: {},
    isList: false,
    expected: (of, app) => of.trafficHeatmap(app),
  },
  {
    path: 'sessions/traffic-audience-activity',
    query: {},
    isList: false,
    expected: (of, app) => of.audienceActivity(app),
  },
  { path: 'sessions/locations/all', query: {}, isList: true, expected: (of, app) => of.locations(app, OPEN) },
  { path: 'growth/utm', query: IN_RANGE, isList: true, expected: (of, app) => of.utmCampaigns(app, RANGE) },
];
const LISTS = QUESTIONS.filter(({ isList }) => isList);

const AGENTS = [...USER_AGENTS.keys()];

/**
 * Makes the batch with this number: one to five sessions with a few events each. Some continue a session of
 * an earlier batch.
 */
export function sessionsOfBatch(app: AppId, number: number): Delivery[] {
  return Array.from({ length: 1 + (number % 5) }, (_, i) => {
    const id = number * 5 + i - (number % 4 === 3 && i === 0 ? 5 : 0);
    const startedAt = BEGIN + ((id * 7_919_113) % (12 * HOUR_MS));
    const at = (event: number): number => startedAt + (number % 60) * 20_000 + event * 1_009;
    const path = `/page-${id % 7}`;
    const events: SentEvent[] = [
      { type: 'pageview', timestamp: at(0), path },
      { type: 'engagement', timestamp: at(1), path, durationMs: 1_000 + id },
      ...(id % 2 === 0 ? [{ type: 'click' as const, timestamp: at(2), path, target: `#b${id % 4}` }] : []),
      ...(id % 5 === 0 ? [{ type: 'error' as const, timestamp: at(3), path, message: `no ${id % 3}` }] : []),
    ];
    return {
      appId: app,
      appDomain: KNOWN_DOMAIN,
      session: { id: `s-${id}`, visitorId: `v-${id % 40}`, startedAt },
      context: {
        userAgent: AGENTS[id % AGENTS.length] ?? '',
        utm: id % 2 === 0 ? { source: 'newsletter', campaign: `c${id % 5}` } : {},
        location: { country: 'IR', city: `City ${id % 6}`, latitude: 30 + (id % 6), longitude: 51 },
      },
      events,
    };
  });
}

/** Makes the body of a batch: byte for byte the same for the same `batchId`. */
export function bodyOf(
  { app, secretKey }: Site,
  deliveries: readonly Delivery[],
  batchId = randomUUID(),
): string {
  const sessions = deliveries.map(({ session, context, events }) => ({
    ...session,
    startedAt: iso(session.startedAt),
    context,
    events: events.map((event) => ({ ...event, timestamp: iso(event.timestamp) })),
  }));
  return JSON.stringify({ appId: app, secretKey, batchId, sessions });
}

/** Resolves to true if the service acknowledges the batch. */
export async function isStored(url: string, body: string): Promise<boolean> {
  try {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
    return (await fetch(`${url}/sdk/v1/events`, init)).status === 200;
  } catch {
    return false;
  }
}

/** More do not fit in a request. */
const MOST_TAGS = 300;
const NDJSON = 'application/x-ndjson';

/**
 * Records the answers that clients get. Answers of the same question with the same tag must have the same
 * bytes, in every process.
 */
export class Witness {
  readonly #site: Site;
  /** By path and form: bodies by tag, in the order of arrival. */
  readonly #seen = new Map<string, Map<string, string>>();
  /** Descriptions of wrong answers. */
  readonly wrong: string[] = [];
  asked = 0;
  notModified = 0;

  constructor(site: Site) {
    this.#site = site;
  }

  /** Runs three clients that poll all questions in turn until `isOver`; `rests` are their pauses in ms. */
  async poll(isOver: () => boolean, rests: readonly number[] = [0, 5, 50]): Promise<void> {
    await Promise.all(
      rests.map(async (ms, poller) => {
        for (let turn = poller; !isOver(); turn++) {
          const question = QUESTIONS[turn % QUESTIONS.length];
          if (question === undefined) return;
          await this.#ask(question, turn, { latestTag: true }).catch(() => undefined);
          await sleep(ms);
        }
      }),
    );
  }

  /**
   * Asks every question with all tags seen so far, and compares the answers with those of the oracle for
   * `deliveries`.
   */
  async expectAll(deliveries: readonly Delivery[], turn: number): Promise<void> {
    const { app } = this.#site;
    const oracle = createOracle(deliveries, known, () => Date.now());
    const check = async (question: Question, how: { form?: string; method?: string }): Promise<void> => {
      const before = halfHour();
      const body = await this.#ask(question, turn, how);
      // A window may have moved meanwhile: Tehran's hours begin at half past of UTC.
      if (halfHour() !== before || body === null) return;
      const expected = question.expected(oracle, app);
      if (!isDeepStrictEqual(body, JSON.parse(JSON.stringify(expected)))) {
        this.wrong.push(
          `${turn}: ${how.method ?? 'GET'} ${question.path} ${how.form ?? ''}\n${JSON.stringify(body)}\n${JSON.stringify(expected)}`,
        );
      }
    };
    const list = LISTS[turn % LISTS.length];
    const any = QUESTIONS[turn % QUESTIONS.length];
    await Promise.all([
      ...QUESTIONS.map((question) => check(question, {})),
      ...(list === undefined ? [] : [check(list, { form: NDJSON })]),
      ...(any === undefined ? [] : [check(any, { method: 'HEAD' })]),
    ]);
  }

  /** Asks every question with all tags seen so far, and records the answers. */
  async askAll(turn: number): Promise<void> {
    await Promise.all(QUESTIONS.map((question) => this.#ask(question, turn, {})));
  }

  /**
   * Returns the questions that a process computes again when they are repeated: their answers were not
   * cached.
   */
  async computedAgain(): Promise<string[]> {
    const computed: string[] = [];
    for (const turn of this.#site.urls.keys()) {
      for (const question of QUESTIONS) {
        await this.#ask(question, turn, { timing: true });
        const timing = await this.#ask(question, turn, { timing: true });
        if (/store;dur=[\d.]+;desc/.test(String(timing))) computed.push(`${turn} ${question.path}`);
      }
    }
    return computed;
  }

  /** Returns the body; for a 304 or HEAD the recorded body of its tag, or null if there is none. */
  async #ask(
    question: Question,
    turn: number,
    how: { form?: string; method?: string; latestTag?: boolean; timing?: boolean },
  ): Promise<unknown> {
    const { path, query } = question;
    const { urls, apiKey, app } = this.#site;
    const form = how.form ?? 'application/json';
    const key = `${path} ${form}`;
    const seen = this.#seen.get(key) ?? new Map<string, string>();
    this.#seen.set(key, seen);
    const tags = how.timing ? [] : [...seen.keys()].slice(how.latestTag ? -1 : -MOST_TAGS);
    const response = await fetch(
      `${urls[turn % urls.length]}/api/v1/${path}?${new URLSearchParams({ appId: app, ...query })}`,
      {
        method: how.method ?? 'GET',
        headers: {
          Authorization: `Bearer ${apiKey}`,
          Accept: form,
          'Accept-Encoding': 'identity',
          ...(tags.length === 0 ? {} : { 'If-None-Match': tags.join(', ') }),
        },
      },
    );
    const text = await response.text();
    // The machine is busy. A refusal is not a wrong answer.
    if (response.status === 503) {
      await sleep(100);
      return this.#ask(question, turn, how);
    }
    if (response.status !== 200 && response.status !== 304) {
      throw new Error(`${path}: ${response.status} ${text}`);
    }
    if (how.timing) return response.headers.get('server-timing');
    this.asked++;
    if (response.status === 304) this.notModified++;
    const tag = response.headers.get('etag') ?? '';
    const isEmpty = response.status === 304 || how.method === 'HEAD';
    const before = seen.get(tag);
    if (isEmpty) return before === undefined ? null : parsed(before, form);
    if (before !== undefined && before !== text) this.wrong.push(`${turn}: ${key}: two bodies under ${tag}`);
    seen.set(tag, text);
    return parsed(text, form);
  }
}

/** With more sessions, the oracle takes longer than the service. */
const ROUNDS_PER_APP = 25;

/**
 * Stores a batch in each round, by the processes in turn. After each acknowledgement it asks every question,
 * while three clients poll. Returns descriptions of wrong answers.
 */
export async function storeAndAsk(nextSite: () => Promise<Site>, rounds: number): Promise<string[]> {
  const wrong: string[] = [];
  let [asked, notModified] = [0, 0];
  for (let first = 0; first < rounds; first += ROUNDS_PER_APP) {
    const witness = await rounded(await nextSite(), Math.min(ROUNDS_PER_APP, rounds - first));
    wrong.push(...witness.wrong);
    asked += witness.asked;
    notModified += witness.notModified;
  }
  process.stdout.write(`moving: ${rounds} rounds, ${asked} answers, ${notModified} of them 304\n`);
  return wrong;
}

async function rounded(site: Site, rounds: number): Promise<Witness> {
  const witness = new Witness(site);
  const stored: Delivery[] = [];
  let isOver = false;
  const polling = witness.poll(() => isOver);
  try {
    for (let round = 0; round < rounds; round++) {
      const deliveries = sessionsOfBatch(site.app, round);
      const url = site.urls[Math.floor(round / 2) % site.urls.length] ?? '';
      if (!(await isStored(url, bodyOf(site, deliveries)))) throw new Error(`round ${round}: not stored`);
      stored.push(...deliveries);
      await witness.expectAll(stored, round);
    }
  } finally {
    isOver = true;
    await polling;
  }
  return witness;
}

const parsed = (text: string, form: string): unknown =>
  form === NDJSON
    ? text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : JSON.parse(text);
