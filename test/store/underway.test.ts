import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs, type Range } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { deferred } from '../support/deferred.ts';
import { outOfBounds } from '../support/figures.ts';
import { type Case, caseArbitrary, instantsOf, type SentBatch } from '../support/generate.ts';
import { ABOUT_ALL, aboutRange, outcome, type Question, type Source } from '../support/oracle/compare.ts';
import { KNOWN_DOMAIN, known } from '../support/oracle/known.ts';
import { createOracle, type Oracle } from '../support/oracle/oracle.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { forAll } from '../support/random.ts';
import { replaced } from '../support/replaced.ts';
import { type TestStore, testStore } from '../support/store.ts';

/*
 * While a batch is being stored, its events are in the tables, but not committed. Each figure that only grows with the data
 * lies between the one without the batch and the one with it, wherever its events lie. One with a segment is not above the one
 * of all sessions. After the commit, all are exact.
 * Events from after the range count in none. Only because of these an answer is computed twice.
 */

const CASES = Number(process.env['UNDERWAY_CASES'] ?? 15);

let store: TestStore;
let subject: Awaited<ReturnType<typeof subjectOn>>;
/** Events that were stored are committed after this. */
let commitsWait = Promise.resolve();

beforeAll(async () => {
  store = await testStore();
  const insertText: Database['insertText'] = async (table, ...more) => {
    if (table === 'ledger') await commitsWait;
    return store.db.insertText(table, ...more);
  };
  subject = await subjectOn(replaced(store.db, { insertText }));
});
afterAll(() => store.close());

/** The endpoints, as `outOfBounds` names them. */
const PATHS: Readonly<Record<string, string>> = {
  dataBounds: 'sessions/data-bounds',
  overview: 'sessions/overview/extended',
  kpis: 'sessions/overview/kpis',
  pageviews: 'sessions/pageviews',
  timeSpent: 'sessions/timespent',
  userGrowth: 'sessions/user-growth',
  trafficHeatmap: 'sessions/traffic-heatmap',
  audienceActivity: 'sessions/traffic-audience-activity',
};

const EVENTS = {
  name: 'events of an app',
  sql: sql`SELECT toUInt32(count()) AS n FROM events WHERE app_id = {app:UUID}`,
  row: z.object({ n: z.number() }),
};

const countOf = (batches: readonly SentBatch[]): number =>
  batches.flatMap(({ deliveries }) => deliveries).reduce((sum, { events }) => sum + events.length, 0);

/** Stores the batches of one app; hours are sealed after `sealed` of them. `last` is the one that is being stored. */
async function expectBounds({ batches, probes, moments }: Case, sealed: number): Promise<void> {
  const app = { id: appId(randomUUID()), domain: KNOWN_DOMAIN };
  const { db } = store;
  const [before, last] = [batches.slice(0, -1), batches.at(-1) as SentBatch];
  for (const [i, { deliveries }] of before.entries()) {
    if (i === sealed)
      await seal({ db, only: [app.id] }, epochMs(Math.max(...instantsOf(batches))), {
        repairAfterMs: Number.POSITIVE_INFINITY,
      });
    await subject.deliver(app, randomUUID(), deliveries);
  }
  const now = epochMs(moments[0] ?? 0);
  const [without, withAll] = [before, batches].map((stored) =>
    createOracle(
      stored.flatMap(({ deliveries }) =>
        deliveries.map((delivery) => ({ ...delivery, appId: app.id, appDomain: app.domain })),
      ),
      known,
      () => now,
    ),
  ) as [Oracle, Oracle];
  const questions = [...ABOUT_ALL, ...probes.flatMap((probe) => aboutRange({ ...probe, limit: undefined }))];
  const polled = steadyAnalytics({ db });
  const fresh = steadyAnalytics({ db, memory: new Memory(0) });
  const ask = async ({ ask: by }: Question, of: Source): Promise<unknown> => {
    const answer = await outcome(() => by(of, app.id, now));
    return JSON.parse(
      JSON.stringify(Symbol.iterator in Object(answer) ? [...(answer as Iterable<unknown>)] : answer),
    );
  };
  const isRefused = (answer: unknown): boolean => 'refused' in Object(answer);
  for (const question of questions) await ask(question, polled);
  const { promise, resolve: commit } = deferred();
  commitsWait = promise;
  const batchId = randomUUID();
  const deliver = () => subject.deliver(app, batchId, last.deliveries);
  const storing = deliver();
  // The sender may lose patience meanwhile. It sends the batch again then.
  storing.catch(() => undefined);
  try {
    await vi.waitFor(
      async () => expect(await db.queryOne(EVENTS, { app: app.id })).toEqual({ n: countOf(batches) }),
      10_000,
    );
    for (const question of questions) {
      const path = PATHS[question.name.split(' ')[0] ?? ''];
      if (path === undefined) continue;
      const { ofAll } = question;
      const least = ofAll ? undefined : await ask(question, without);
      const most = await ask({ ...question, ask: ofAll ?? question.ask }, withAll);
      // Growth of more than 4,000 days: the events that are being stored decide which days they are.
      if (isRefused(least) || isRefused(most)) continue;
      for (const answer of await Promise.all([polled, fresh].map((of) => ask(question, of)))) {
        expect(outOfBounds(path, answer, least, most), question.name).toEqual([]);
      }
    }
  } finally {
    commit();
    await storing.catch(deliver);
  }
  for (const question of questions) {
    const exact = await ask(question, withAll);
    for (const answer of await Promise.all([polled, fresh].map((of) => ask(question, of)))) {
      expect(answer, question.name).toEqual(exact);
    }
  }
}

test('each figure lies between the one without the events that are being stored and the one with them', {
  timeout: 0,
}, async () => {
  const stories = fc.tuple(caseArbitrary, fc.nat({ max: 5 })).map(([story, at]) => {
    const batches = story.batches.map((batch) => ({ ...batch, app: 0 }));
    return { story: { ...story, batches }, sealed: at % batches.length };
  });
  await forAll(stories, ({ story, sealed }) => expectBounds(story, sealed), { runs: CASES, shrinks: false });
});

const NOW = epochMs(Date.UTC(2026, 2, 10, 12, 30));
/** A visit with one view, which began `minutesAgo`. */
const visit = (id: string, minutesAgo: number) => {
  const startedAt = NOW - minutesAgo * 60_000;
  return {
    session: { id, visitorId: `visitor-${id}`, startedAt },
    context: {},
    events: [{ type: 'pageview' as const, path: '/', timestamp: startedAt }],
  };
};

const FIGURES: readonly [string, (of: Analytics, id: AppId, range: Range) => Promise<number | undefined>][] =
  [
    ['KPIs', async (of, id, range) => (await of.kpis(id, range)).current.pageviews],
    [
      'KPIs of the period before',
      async (of, id, { from, to }) =>
        (await of.kpis(id, { from: epochMs(to + 1), to: epochMs(2 * to - from + 1) })).previous.pageviews,
    ],
    ['pageviews', async (of, id, range) => [...(await of.pageviews(id, range))][0]?.views],
    ['overview', async (of, id, range) => (await of.overview(id, range)).page.pageviews],
    ['growth', async (of, id, range) => (await of.userGrowth(id, range)).at(-1)?.pageviews],
  ];

describe.each([
  { event: 'from after the range', minutesAgo: 10, isCommitted: true },
  { event: 'from after the range', minutesAgo: 10, isCommitted: false },
  { event: 'of the range', minutesAgo: 17, isCommitted: true },
  { event: 'of the range', minutesAgo: 17, isCommitted: false },
])('an event $event, which comes meanwhile (committed: $isCommitted)', ({ minutesAgo, isCommitted }) => {
  test.each(FIGURES)('%s', async (_name, ask) => {
    const { db } = store;
    const other = appId(randomUUID());
    const sent = (id: string, ago: number) =>
      subject.deliver({ id: other, domain: KNOWN_DOMAIN }, randomUUID(), [visit(id, ago)]);
    // All in one hour.
    const range = { from: epochMs(NOW - 25 * 60_000), to: epochMs(NOW - 15 * 60_000) };
    const isInRange = minutesAgo > 15;
    await sent('early', 20);
    const { promise: mayCommit, resolve: commit } = deferred();
    if (!isCommitted) commitsWait = mayCommit;
    let isSent = false;
    let sending: Promise<unknown> = Promise.resolve();
    /** Before the first statement of the answer. */
    const meanwhile = async (name: string): Promise<void> => {
      if (isSent || /^(snapshot|published|state)/.test(name)) return;
      isSent = true;
      sending = sent('later', minutesAgo);
      const areVisible = async () => expect(await db.queryOne(EVENTS, { app: other })).toEqual({ n: 2 });
      await (isCommitted ? sending : vi.waitFor(areVisible, 10_000));
    };
    const racing = replaced(db, {
      rows: async (query, ...more) => {
        await meanwhile(query.name);
        return db.rows(query, ...more);
      },
      list: async (query, ...more) => {
        await meanwhile(query.name);
        return db.list(query, ...more);
      },
      rowsUpTo: async (query, ...more) => {
        await meanwhile(query.name);
        return db.rowsUpTo(query, ...more);
      },
    });
    const snapshots = vi.fn(createSnapshots(racing));
    const analytics = steadyAnalytics({ db: racing, snapshots, memory: new Memory(0) });
    const answer = await ask(analytics, other, range).finally(commit);
    expect(answer).toBeGreaterThanOrEqual(1);
    expect(answer).toBeLessThanOrEqual(isInRange ? 2 : 1);
    expect(isSent).toBe(true);
    // Computed once: a process that is alone on its store reads one before it and one after it.
    if (isInRange) expect(snapshots).toHaveBeenCalledTimes(db.engine === 'embedded' ? 2 : 1);
    await sending;
  });
});
