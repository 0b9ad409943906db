import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { AppError } from '../../src/domain/errors.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { HAPPENINGS } from '../../src/domain/segment.ts';
import { epochMs } from '../../src/domain/time.ts';
import { expire, MARGIN_MS } from '../../src/facts/expiry.ts';
import { seal } from '../../src/facts/pass.ts';
import { purgeSessions } from '../../src/facts/purge.ts';
import { unseal } from '../../src/facts/unseal.ts';
import { type Case, casesWith, instantsOf, type Probe } from './generate.ts';
import {
  ABOUT_ALL,
  aboutRange,
  outcome,
  type Question,
  type Source,
  type Subject,
} from './oracle/compare.ts';
import { KNOWN_DOMAIN, known } from './oracle/known.ts';
import type { Delivery } from './oracle/model.ts';
import { createOracle, type Oracle } from './oracle/oracle.ts';
import { forAll } from './random.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Ranges for each store of data. */
const PER_CASE = 12;
/** Questions that are never refused: facts answer them for any ms. */
const OF_SESSIONS = ['locations', 'utmCampaigns'];

/** What happens after a batch: sealing up to a moment, and a retention that ends at the day of an instant. */
const runsArbitrary = fc.array(
  fc.record({
    sealedDays: fc.option(fc.constantFrom(0, 1, 2, 3, 40), { nil: null, freq: 4 }),
    expires: fc.option(fc.nat({ max: 500 }), { nil: null, freq: 2 }),
    later: fc.constantFrom(0, 0, 1, 2),
    rebuilds: fc.boolean(),
    repairs: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

export interface Run {
  readonly sealedDays: number | null;
  /** The index of an instant of the data: what is older than its day expires. */
  readonly expires: number | null;
  /** Or than so many days after it. */
  readonly later: number;
  readonly rebuilds: boolean;
  readonly repairs: boolean;
}

/** An app whose events expire, as the test knows it. */
interface Tested {
  readonly id: AppId;
  readonly domain: string;
  retention: { readonly days: null; readonly acceptedFrom: ReturnType<typeof epochMs> };
}

/** Deletes what is older than the day `horizon`, as far as it is sealed. */
export const expireBefore = (db: Database, apps: readonly AppId[], horizon: number) =>
  expire(
    { db, only: apps },
    epochMs(horizon + MARGIN_MS),
    apps.map((app) => ({ app, days: 0 })),
  );

/**
 * How far an app's raw events have expired, which is as far as both kinds of facts go; how far those go that went furthest; and
 * the time of the oldest event.
 */
const HORIZON = {
  name: 'horizon',
  sql: sql`SELECT (SELECT min(ofKind) FROM
      (SELECT max(horizon) AS ofKind FROM sealing_verdicts WHERE app_id = {app:UUID} GROUP BY kind)) AS horizon,
    (SELECT max(horizon) FROM sealing_verdicts WHERE app_id = {app:UUID}) AS furthest,
    (SELECT toUnixTimestamp64Milli(min(timestamp)) FROM events WHERE app_id = {app:UUID}) AS oldest`,
  row: z.object({ horizon: z.number(), furthest: z.number(), oldest: z.number() }),
};

/** A story that is sent to an app whose events expire, and the questions about it. */
export class Play {
  #db: Database;
  #subject: Subject;
  readonly #story: Case;
  readonly #accepted: Delivery[] = [];
  readonly app: Tested = {
    id: appId(randomUUID()),
    domain: KNOWN_DOMAIN,
    retention: { days: null, acceptedFrom: epochMs(0) },
  };

  constructor(db: Database, subject: Subject, story: Case) {
    this.#db = db;
    this.#subject = subject;
    this.#story = story;
  }

  /** The same store, opened again. */
  goOn(db: Database, subject: Subject): void {
    this.#db = db;
    this.#subject = subject;
  }

  async sendAll(): Promise<void> {
    for (const batch of this.#story.batches) await this.send(batch);
  }

  /** Sends a batch. Expects that the sessions that the retention covers are accepted, and no others. */
  async send(batch: Case['batches'][number]): Promise<void> {
    const { app } = this;
    const kept = batch.deliveries.filter(({ session }) => session.startedAt >= app.retention.acceptedFrom);
    const { accepted } = await this.#subject.deliver(app, randomUUID(), batch.deliveries);
    expect(accepted).toBe(kept.reduce((sum, { events }) => sum + events.length, 0));
    this.#accepted.push(...kept.map((delivery) => ({ ...delivery, appId: app.id, appDomain: app.domain })));
  }

  refuseBefore(at: number): void {
    const { acceptedFrom } = this.app.retention;
    this.app.retention = { days: null, acceptedFrom: epochMs(Math.max(acceptedFrom, at)) };
  }

  /** Seals, lets events expire and rebuilds, as the run says. */
  async step(run: Run): Promise<void> {
    const instants = instantsOf(this.#story.batches);
    const start = instants[0] ?? 0;
    const deps = { db: this.#db, only: [this.app.id] };
    if (run.sealedDays !== null) {
      const now = epochMs(start + run.sealedDays * DAY + 30 * HOUR);
      const repairAfterMs = run.repairs ? 0 : Number.POSITIVE_INFINITY;
      await seal(deps, now, { repairAfterMs });
      await purgeSessions(deps, now, { keptMs: 2 * HOUR, stepMs: 0 });
    }
    if (run.expires !== null) {
      const at = instants[run.expires % instants.length] ?? 0;
      const horizon = Math.floor(at / DAY) * DAY + run.later * DAY;
      this.refuseBefore(horizon);
      await expireBefore(this.#db, [this.app.id], horizon);
    }
    if (run.rebuilds) await unseal(deps, epochMs(start + 400 * DAY));
  }

  horizon(): Promise<Horizon> {
    return this.#db.queryOne(HORIZON, { app: this.app.id });
  }

  /**
   * Asks all questions. Expects each answer to be as by brute force over all events ever sent, or refused with
   * bounds whose answer is. Returns how many were refused.
   */
  async compare(): Promise<number> {
    const oracle = createOracle(this.#accepted, known, () => this.#subject.clock.now);
    let refused = 0;
    const { furthest } = await this.horizon();
    for (const moment of this.#story.moments) {
      const now = epochMs(moment);
      this.#subject.clock.now = now;
      for (const { name, ask } of ABOUT_ALL) {
        // The last 30 minutes never lie before a horizon.
        if (name === 'realtime' && now - DAY < furthest) continue;
        expect(await ask(this.#subject.analytics, this.app.id, now), name).toEqual(
          ask(oracle, this.app.id, now),
        );
      }
    }
    for (const { asked, ...whole } of this.#story.probes) {
      refused += await expectRange(this.#subject, this.app.id, oracle, whole);
      if (asked?.segment)
        refused += await expectRange(this.#subject, this.app.id, oracle, { ...whole, asked });
    }
    return refused;
  }
}

/**
 * Asks all questions about a range. Expects each answer to be as by brute force, or refused with bounds whose answer is. Returns
 * how many were refused.
 */
export async function expectRange(
  { analytics, clock }: Subject,
  app: AppId,
  oracle: Oracle,
  probe: Probe,
): Promise<number> {
  let refused = 0;
  const asked = (question: Question, source: Source) => outcome(() => question.ask(source, app, clock.now));
  const questions = aboutRange(probe);
  for (const [i, question] of questions.entries()) {
    const { name } = question;
    const answer = await asked(question, analytics).catch((error: unknown) => error);
    if (!(answer instanceof Error)) {
      expect(answer, name).toEqual(await asked(question, oracle));
      continue;
    }
    if (!(answer instanceof AppError) || answer.code !== 'beyond_retention') throw answer;
    if (!needsEvents(probe)) expect(OF_SESSIONS, name).not.toContain(name.split(' ')[0]);
    const { from, to } = answer.nearest ?? {};
    // The KPIs, which come first, are asked about closed ranges only.
    const all = aboutRange({ ...probe, range: { from: Date.parse(from ?? ''), to: Date.parse(to ?? '') } });
    const next = all[all.length - questions.length + i] as Question;
    const [found, expected] = await Promise.all([asked(next, analytics), asked(next, oracle)]);
    expect(found, `${next.name} instead of ${name}`).toEqual(expected);
    refused += 1;
  }
  return refused;
}

/** Whether the segment asks what happened in a session. */
const needsEvents = ({ asked }: Probe): boolean =>
  (asked?.segment ?? []).flat().some(({ dimension }) => HAPPENINGS.some((each) => each === dimension));

interface Horizon {
  readonly horizon: number;
  readonly furthest: number;
  /** The time of the oldest raw event. */
  readonly oldest: number;
}

/** Sends a story with a run after each batch. */
export async function playStory(db: Database, subject: Subject, story: Case, runs: readonly Run[]) {
  const play = new Play(db, subject, story);
  for (const [i, batch] of story.batches.entries()) {
    await play.send(batch);
    await play.step(runs[i % runs.length] as Run);
  }
  const refused = await play.compare();
  const { horizon, oldest } = await play.horizon();
  if (horizon > 0 && oldest > 0) expect(oldest).toBeGreaterThanOrEqual(horizon - DAY);
  return { refused, horizon, ranges: story.probes.length };
}

/** Asks all questions about random ranges of data whose raw events expired at random moments. */
export function testRetention(
  on: { readonly db: Database; readonly subject: Subject },
  wanted: number,
): void {
  test('answers are exact or refused with bounds that are, whatever expired', { timeout: 0 }, async () => {
    let [ranges, refused, expired] = [0, 0, 0];
    while (ranges < wanted || refused === 0) {
      await forAll(
        fc.tuple(casesWith(PER_CASE), runsArbitrary),
        async ([story, runs]) => {
          if (ranges >= wanted && refused > 0) return;
          const played = await playStory(on.db, on.subject, story, runs);
          ranges += played.ranges;
          refused += played.refused;
          if (played.horizon > 0) expired += 1;
        },
        { runs: 10, shrinks: process.env['SEALING_SHRINK'] !== undefined },
      );
    }
    process.stdout.write(
      `retention: ${ranges} ranges, ${refused} refused; events of ${expired} apps expired\n`,
    );
  });
}
