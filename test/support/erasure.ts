import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../src/clickhouse/database.ts';
import { identifier, quoted, sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createErasures, type Erasures } from '../../src/erasure/erasures.ts';
import { seal } from '../../src/facts/pass.ts';
import { purgeSessions } from '../../src/facts/purge.ts';
import { byChance } from './chance.ts';
import { outOfBounds } from './figures.ts';
import type { SentBatch } from './generate.ts';
import { randomTraffic } from './generate-traffic.ts';
import { ABOUT_ALL, aboutRange, askAbout, expectAnswers } from './oracle/compare.ts';
import { KNOWN_DOMAIN, known } from './oracle/known.ts';
import type { Delivery } from './oracle/model.ts';
import { createOracle } from './oracle/oracle.ts';
import type { subjectOn } from './oracle/subject.ts';
import { expectRange, expireBefore } from './retention.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FROM = Date.UTC(2022, 2, 18);
const DAYS = 4;
/** Deliveries of one batch. */
const MOST_DELIVERIES = 15;
/** In the middle of an erasure, one question in so many is asked each time. */
const TURNS = 4;
/** Endpoints of questions whose figures only grow with the data. */
const PATHS: Readonly<Record<string, string>> = {
  dataBounds: 'sessions/data-bounds',
  trafficHeatmap: 'sessions/traffic-heatmap',
  audienceActivity: 'sessions/traffic-audience-activity',
  kpis: 'sessions/overview/kpis',
  overview: 'sessions/overview/extended',
  pageviews: 'sessions/pageviews',
  timeSpent: 'sessions/timespent',
  userGrowth: 'sessions/user-growth',
};

interface Size {
  readonly sessions: number;
  readonly probes: number;
  readonly days?: number;
}

type Subject = Awaited<ReturnType<typeof subjectOn>>;

/** An app with random traffic, of which visitors are erased. They are called v0, v1, … */
export class ErasedStory {
  readonly #db: Database;
  readonly #subject: Subject;
  readonly app = { id: appId(randomUUID()), domain: KNOWN_DOMAIN };
  readonly #story;
  readonly #waiting: SentBatch[];
  /** Epoch ms at which is asked about now. */
  #moments: readonly number[];
  #isExpired = false;
  #counted: Delivery[] = [];
  #now = epochMs(FROM);

  constructor(db: Database, subject: Subject, { days = DAYS, ...size }: Size) {
    this.#db = db;
    this.#subject = subject;
    const seed = byChance(1e9);
    this.#story = randomTraffic({ ...size, seed, from: FROM, apps: 1, visitors: 8, days });
    this.#moments = this.#story.moments;
    this.#waiting = this.#story.batches.flatMap(({ deliveries, ...batch }) =>
      Array.from({ length: Math.ceil(deliveries.length / MOST_DELIVERIES) }, (_, i) => ({
        ...batch,
        deliveries: deliveries.slice(i * MOST_DELIVERIES, (i + 1) * MOST_DELIVERIES),
      })),
    );
  }

  /** Sends a share of the batches that were not sent yet. */
  async send(share: number): Promise<void> {
    const batches = this.#waiting.splice(0, Math.ceil(this.#waiting.length * share));
    for (const { deliveries } of batches) await this.deliver(deliveries);
  }

  async deliver(deliveries: SentBatch['deliveries']): Promise<void> {
    await this.#subject.deliver(this.app, randomUUID(), deliveries);
    this.#counted.push(
      ...deliveries.map((one) => ({ ...one, appId: this.app.id, appDomain: this.app.domain })),
    );
  }

  /** Returns what a visitor did that was sent so far. */
  of(visitor: string): Delivery[] {
    return this.#counted.filter(({ session }) => session.visitorId === visitor);
  }

  /** The visitor of whom most was sent so far. */
  busiest(): string {
    const visitors = new Set(this.#counted.map(({ session }) => session.visitorId));
    const [first = ''] = [...visitors].sort((a, b) => this.of(b).length - this.of(a).length);
    return first;
  }

  /** Seals a number of days; late events are repaired if `repairs`. */
  async seal(days: number, repairs: boolean): Promise<void> {
    const repairAfterMs = repairs ? 0 : Number.POSITIVE_INFINITY;
    this.#now = epochMs(FROM + days * DAY + 30 * HOUR);
    const deps = { db: this.#db, only: [this.app.id] };
    await seal(deps, this.#now, { repairAfterMs });
    await purgeSessions(deps, this.#now, { keptMs: 2 * HOUR, stepMs: 0 });
  }

  /** Erasures of a process whose writes go through `db`. It drops what it keeps of an app with `forget`. */
  erasures(db: Database = this.#db, forget: (app: AppId) => void = () => undefined): Erasures {
    const { ingestion } = this.#subject;
    return createErasures({
      db,
      clock: () => this.#now,
      locks: inProcessLocks(),
      ingestion,
      forget,
    });
  }

  /** What is counted once the visitor is erased. Sessions from before `horizon` stay, of a visitor without a name. */
  without(visitor: string, horizon = 0): void {
    this.#counted = this.#counted.flatMap((one) => {
      if (one.session.visitorId !== visitor) return one;
      const nobody = { ...one.session, visitorId: `nobody, once ${visitor}` };
      return one.session.startedAt < horizon ? { ...one, session: nobody } : [];
    });
  }

  /** Lets raw events from before a day of the story expire. */
  async expire(days: number): Promise<number> {
    const horizon = FROM + days * DAY;
    await expireBefore(this.#db, [this.app.id], horizon);
    // The last 30 minutes never lie before a horizon.
    this.#isExpired = true;
    this.#moments = this.#moments.map((at) => Math.max(at, horizon + DAY));
    return horizon;
  }

  /** Counts only the sessions that have events in the store: those that came in during an erasure may be erased. */
  async keepStored(): Promise<void> {
    const stored = await this.#db.rows(
      {
        name: 'stored sessions',
        sql: sql`SELECT DISTINCT session_id, toUnixTimestamp64Milli(started_at) FROM events WHERE app_id = {app:UUID}`,
        row: z.tuple([z.string(), z.number()]),
      },
      {},
      { app: this.app.id },
    );
    const keys = new Set(stored.map(([id, at]) => `${id} ${at}`));
    this.#counted = this.#counted.filter(({ session }) => keys.has(`${session.id} ${session.startedAt}`));
  }

  /** Asks questions, erases the visitor, and compares all answers. */
  async erase(visitor: string): Promise<void> {
    await askAbout(this.#subject, [this.app.id], this.#story.probes);
    await this.erasures().erase(this.app.id, visitor);
    this.without(visitor);
    await this.compare();
  }

  /** Expects each answer to be as by brute force. One that needs expired events is asked about the nearest range. */
  async compare(): Promise<void> {
    const { probes } = this.#story;
    const apart = this.#isExpired ? probes : [];
    const asked = { moments: this.#moments, probes: this.#isExpired ? [] : probes };
    await expectAnswers(this.#subject, [this.app], asked, this.#counted);
    const oracle = createOracle(this.#counted, known, () => this.#subject.clock.now);
    for (const probe of apart) await expectRange(this.#subject, this.app.id, oracle, probe);
  }

  /**
   * Asks in the middle of an erasure of the visitor: for the bounds of the data, and some of the other questions in turn.
   * Expects each figure that grows with the data to lie between the one without the visitor and the one with the visitor; with
   * a segment, the one of all sessions.
   */
  async expectBetween(visitor: string, turn: number): Promise<void> {
    const { analytics, clock } = this.#subject;
    const { id } = this.app;
    const now = () => clock.now;
    const most = createOracle(this.#counted, known, now);
    const others = this.#counted.filter(({ session }) => session.visitorId !== visitor);
    const least = createOracle(others, known, now);
    clock.now = epochMs(this.#moments[0] ?? 0);
    const questions = [...ABOUT_ALL, ...this.#story.probes.flatMap(aboutRange)];
    for (const [i, { name, ask, ofAll = ask }] of questions.entries()) {
      const path = PATHS[name.split(' ')[0] ?? ''];
      if (path === undefined || (i > 0 && i % TURNS !== turn % TURNS)) continue;
      const answer: unknown = await ask(analytics, id, clock.now);
      const bounds = [ask(least, id, clock.now), ofAll(most, id, clock.now)] as const;
      expect(outOfBounds(path, answer, ...bounds), name).toEqual([]);
    }
  }

  /** Expects that nothing of an erasure is left open, and that no row names the visitor. */
  async expectGone(visitor: string): Promise<void> {
    const row = z.object({ rows: z.number() });
    for (const [table, where] of [
      ['events', sql`visitor_id = ${quoted(visitor)}`],
      ['erasures', sql`visitor_id != ''`],
      ['erased_sessions', sql`1`],
      ['visitor_sessions', sql`visitor = reinterpretAsUInt128(sipHash128(${quoted(visitor)}))`],
      ['utm_facts', sql`visitor = reinterpretAsUInt128(sipHash128(${quoted(visitor)}))`],
      ['session_facts', sql`visitor = reinterpretAsUInt128(sipHash128(${quoted(visitor)}))`],
    ] as const) {
      const statement = sql`SELECT toUInt32(count()) AS rows FROM ${identifier(table)} WHERE app_id = {app:UUID} AND ${where}`;
      expect(
        await this.#db.queryOne({ name: 'left', sql: statement, row }, { app: this.app.id }),
        table,
      ).toEqual({
        rows: 0,
      });
    }
  }
}

const WRITES = ['insert', 'insertFrom', 'command'];

/** The same database for a process that dies at its `last` write. */
export function dying(db: Database, last: number): Database {
  let writes = 0;
  return withWrites(db, (write) => {
    writes += 1;
    if (writes > last) throw new Dead();
    return write();
  });
}

export class Dead extends Error {}

/** The same database with something that happens after each write. */
export function watched(db: Database, after: () => Promise<void>): Database {
  return withWrites(db, async (write) => {
    const written = await write();
    await after();
    return written;
  });
}

function withWrites(db: Database, made: (write: () => Promise<unknown>) => Promise<unknown>): Database {
  return new Proxy(db, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const bound = value.bind(target);
      if (!WRITES.includes(String(name))) return bound;
      return async (...args: unknown[]) => made(async () => bound(...args));
    },
  });
}
