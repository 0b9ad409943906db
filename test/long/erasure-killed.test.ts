import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { differences } from '../chaos/history.ts';
import { ABOUT_ALL, aboutRange, type Question } from '../chaos/questions.ts';
import { byChance } from '../support/chance.ts';
import { outOfBounds } from '../support/figures.ts';
import { filesBelow, hasOneOf } from '../support/files.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { halfHour } from '../support/half-hour.ts';
import { bodyOf, isStored, newSite, type Site } from '../support/moving.ts';
import { KNOWN_DOMAIN, known, USER_AGENTS } from '../support/oracle/known.ts';
import type { Delivery } from '../support/oracle/model.ts';
import { createOracle, type Oracle } from '../support/oracle/oracle.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { tracesOf } from '../support/traces.ts';

/*
 * Kills the service in the middle of erasures, while clients ask all the time, and compares every answer with the oracle.
 *
 * Before and after an erasure, an answer is exact. In between it may count some of the visitor's events: each figure lies
 * between the one without the visitor and the one with the visitor. A 304 counts as the answer that its tag stands for.
 */

const DAY = 86_400_000;
/** All events lie in the past, and within the windows that follow the clock. */
const FROM = Math.floor(Date.now() / DAY) * DAY - 6 * DAY;
const DAYS = 4;
const DEATHS = 2;
const VISITORS = 8;
const CLIENTS = 2;
/** The shortest pause of a client. It rests as long as an answer took, so that a slow machine has time for the erasure. */
const PAUSE_MS = 10;
const AGENT = [...USER_AGENTS.keys()].find((agent) => agent.includes('Firefox')) ?? '';

let folder: string;
let service: ServiceProcess;
let site: Site;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-erasure-killed-'));
  service = await start();
  site = await newSite([service]);
});
afterAll(async () => {
  await service.kill();
  removeFolder(folder);
});

const start = (): Promise<ServiceProcess> =>
  serviceProcess({
    DATA_DIR: folder,
    PUBLIC_API_REQUESTS_PER_MINUTE: '1000000',
    SEAL_INTERVAL_SECONDS: '1',
  });

async function restart(): Promise<void> {
  await service.kill();
  service = await start();
}

const erase = (visitor: string): Promise<unknown> =>
  service.admin('visitor', 'erase', '--app', site.app, '--visitor', visitor);

/** What counts, with the answers to all questions. */
class Counted {
  readonly deliveries: readonly Delivery[];
  readonly #oracle: Oracle;
  readonly #answers = new Map<string, unknown>();

  constructor(deliveries: readonly Delivery[]) {
    this.deliveries = deliveries;
    this.#oracle = createOracle(deliveries, known, () => Date.now());
  }

  answer(question: Question): unknown {
    const name = `${addressOf(question)} ${halfHour()}`;
    if (!this.#answers.has(name)) {
      const answer = question.expected(this.#oracle, site.app, Date.now());
      this.#answers.set(name, JSON.parse(JSON.stringify(answer)));
    }
    return this.#answers.get(name);
  }

  without(visitor: string): Counted {
    return new Counted(this.deliveries.filter(({ session }) => session.visitorId !== visitor));
  }
}

const addressOf = ({ path, query }: Question): string =>
  `${path}?${new URLSearchParams({ appId: site.app, ...query })}`;

/** Asks questions with all tags seen so far, and describes wrong answers. */
class Clients {
  readonly #questions: readonly Question[];
  /** By address: texts by tag. */
  readonly #seen = new Map<string, Map<string, string>>();
  #most: Counted;
  #least: Counted;
  readonly wrong: string[] = [];
  readonly counts = { exact: 0, bounded: 0, notModified: 0 };

  constructor(questions: readonly Question[], counted: Counted) {
    this.#questions = questions;
    this.#most = counted;
    this.#least = counted;
  }

  /** From now on, answers may be without the visitor. */
  begin(visitor: string): void {
    this.#least = this.#most.without(visitor);
  }

  /** From now on, no answer is with the visitor. */
  end(): void {
    this.#most = this.#least;
  }

  async poll(isOver: () => boolean): Promise<void> {
    const client = async (_: unknown, first: number): Promise<void> => {
      for (let turn = first * 3; !isOver(); turn++) {
        const question = this.#questions[turn % this.#questions.length];
        const asked = performance.now();
        const isAnswered = question !== undefined && (await this.#ask(question).catch(() => false));
        await sleep(Math.max(isAnswered ? PAUSE_MS : 3 * PAUSE_MS, performance.now() - asked));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  /** Asks each question until it is answered. */
  async askAll(): Promise<void> {
    for (const question of this.#questions) while (!(await this.#ask(question))) await sleep(100);
  }

  /** True if an answer is exactly that with the visitor who is being erased. */
  async isWith(): Promise<boolean> {
    const [question] = this.#questions;
    if (question === undefined) return false;
    let answer = await get(question);
    while (answer.status === 503) {
      await sleep(100);
      answer = await get(question);
    }
    return differences(JSON.parse(answer.text), this.#most.answer(question)).length === 0;
  }

  /** Returns false if the service refuses. */
  async #ask(question: Question): Promise<boolean> {
    const address = addressOf(question);
    const seen = this.#seen.get(address) ?? new Map<string, string>();
    this.#seen.set(address, seen);
    const [most, at] = [this.#most, halfHour()];
    const { status, tag, text } = await get(question, [...seen.keys()].slice(-100));
    if (status === 503) return false;
    const said = (what: string): void => void this.wrong.push(`${address}: ${status} ${tag}: ${what}`);
    const own = seen.get(tag);
    if (status === 304) {
      this.counts.notModified += 1;
      if (own === undefined) said('the tag was not sent');
    } else if (status !== 200) said(text);
    else if (own !== undefined && own !== text) said(`the tag stands for two texts:\n${own}\n${text}`);
    if (status === 200) seen.set(tag, text);
    if (halfHour() !== at) return true;
    const answer: unknown = JSON.parse(seen.get(tag) ?? 'null');
    const isExact = most === this.#least;
    const faults = isExact
      ? differences(answer, most.answer(question))
      : outOfBounds(question.path, answer, this.#least.answer(question), most.answer(question));
    this.counts[isExact ? 'exact' : 'bounded'] += 1;
    if (faults.length > 0) said(`${isExact ? '' : 'while erasing: '}${faults.slice(0, 5).join('; ')}`);
    return true;
  }
}

async function get(question: Question, tags: readonly string[] = []) {
  const response = await fetch(`${service.url}/api/v1/${addressOf(question)}`, {
    headers: {
      Authorization: `Bearer ${site.apiKey}`,
      ...(tags.length === 0 ? {} : { 'If-None-Match': tags.join(', ') }),
    },
  });
  return {
    status: response.status,
    tag: response.headers.get('etag') ?? '',
    text: await response.text(),
  };
}

const nameOf = (visitor: string): string => `the-visitor-${visitor}-of-the-story`;

/** Random traffic as an SDK sends it. */
function traffic() {
  const story = randomTraffic({
    seed: byChance(1e9),
    from: FROM,
    apps: 1,
    sessions: 40,
    visitors: VISITORS,
    days: DAYS,
    probes: 1,
  });
  const batches = story.batches.map(({ deliveries }) =>
    deliveries.map(
      ({ session, context, events }): Delivery => ({
        appId: site.app,
        appDomain: KNOWN_DOMAIN,
        session: { ...session, visitorId: nameOf(session.visitorId) },
        // Without a user agent, that of the request counts.
        context: { ...context, userAgent: context.userAgent || AGENT },
        events,
      }),
    ),
  );
  const questions = story.probes.flatMap(({ range }) => aboutRange(range));
  return { batches, questions: [...questions, ...ABOUT_ALL] };
}

/** Resolves when no app has anything left to seal but its last day. */
const sealed = (): Promise<void> =>
  expect
    .poll(async () => JSON.stringify(await service.admin('seal', 'status')), { interval: 500 })
    .toMatch(/"sealedUntil":"20.*"sealedUntil":"20/);

/** Returns the names of the files in the folder that hold one of the texts. Those that the engine removes do not. */
const filesWith = (texts: readonly string[]): string[] =>
  filesBelow(folder)
    .map((file) => join(folder, file))
    .filter((file) => hasOneOf(file, texts));

const hashesOf = async (db: Database, visitors: readonly string[]): Promise<string[]> =>
  (
    await db.query(
      {
        name: 'hashes',
        sql: sql`SELECT toString(reinterpretAsUInt128(sipHash128(arrayJoin({visitors:Array(String)})))) AS hash`,
        row: z.object({ hash: z.string() }),
      },
      { visitors },
    )
  ).map(({ hash }) => hash);

test(`visitors are erased by a service that is killed ${DEATHS + 1} times meanwhile, and every answer is right`, async () => {
  const { batches, questions } = traffic();
  const send = async (some: typeof batches): Promise<void> => {
    for (const batch of some) expect(await isStored(service.url, bodyOf(site, batch))).toBe(true);
  };
  const half = Math.ceil(batches.length / 2);
  await send(batches.slice(0, half));
  await sealed();
  // Some of these come late.
  await send(batches.slice(half));

  const clients = new Clients(questions, new Counted(batches.flat()));
  await clients.askAll();
  let isOver = false;
  const polling = clients.poll(() => isOver);
  const visitors = Array.from({ length: DEATHS + 1 }, (_, i) => nameOf(`v${i}`));
  const [first = '', ...others] = visitors;
  let repeated = 0;
  try {
    const began = performance.now();
    clients.begin(first);
    await erase(first);
    clients.end();
    const length = performance.now() - began;
    await clients.askAll();

    for (const [death, visitor] of others.entries()) {
      clients.begin(visitor);
      const erasing = erase(visitor).catch(() => undefined);
      await sleep((length * (death + byChance(1_000) / 1_000)) / DEATHS);
      await restart();
      await erasing;
      if (death === 0) {
        // The one that goes on by itself is killed, too.
        await sleep(byChance(Math.ceil(length)));
        await restart();
      }
      // Waits for the erasure that goes on.
      await erase('nobody');
      // It was killed before the erasure began: nothing has happened.
      if (await clients.isWith()) {
        repeated += 1;
        await erase(visitor);
      }
      clients.end();
      await clients.askAll();
    }
  } finally {
    isOver = true;
    await polling;
  }
  process.stdout.write(
    `erasures: ${JSON.stringify(clients.counts)}, ${repeated} of ${DEATHS} were killed before they began\n`,
  );
  expect(clients.wrong).toEqual([]);

  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toContain('of-the-story');
  const db = await openDatabase({ kind: 'embedded', dataDir: folder, database: 'analytics' });
  try {
    const texts = [...visitors, ...(await hashesOf(db, visitors))];
    // The search finds those who are still there.
    const all = batches.flat().map(({ session }) => session.visitorId);
    const left = all.find((visitor) => !visitors.includes(visitor)) ?? '';
    expect(await tracesOf(db, [left])).toContain('events.visitor_id');
    expect(await tracesOf(db, texts)).toEqual([]);
    expect(filesWith(texts)).toEqual([]);
  } finally {
    await db.close();
  }
});
