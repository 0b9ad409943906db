import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Analytics, EventsQuestion } from '../../../src/analytics/answers/results.ts';
import { AppError } from '../../../src/domain/errors.ts';
import { type AppId, appId } from '../../../src/domain/ids.ts';
import type { Segment } from '../../../src/domain/segment.ts';
import { type EpochMs, epochMs, type OpenRange } from '../../../src/domain/time.ts';
import type { Case, Probe, SentBatch } from '../generate.ts';
import { KNOWN_DOMAIN, known } from './known.ts';
import type { Delivery } from './model.ts';
import { createOracle } from './oracle.ts';

export interface TestedApp {
  readonly id: AppId;
  readonly domain: string;
}

/** The tested system: a store with its pipeline and its questions. */
export interface Subject {
  /** The clock of the questions; a case sets it. */
  readonly clock: { now: EpochMs };
  readonly analytics: Analytics;
  /** The apps of the current case. */
  apps(): readonly AppId[];
  /** Begins a case with these apps. */
  begin(apps: readonly AppId[]): void;
  /** Sends one batch. A repeated id stores nothing. */
  deliver(
    app: TestedApp,
    batchId: string,
    deliveries: SentBatch['deliveries'],
  ): Promise<{ readonly accepted: number; readonly duplicate: boolean }>;
}

/** Actions besides the batches: sealing, a kill and a restart, … */
export interface Hooks {
  /** Runs after this many arrivals, repetitions included. Its result replaces the subject. */
  readonly afterArrivals?: (subject: Subject, arrived: number) => Promise<Subject>;
  /** Runs before the questions. */
  readonly beforeQuestions?: (subject: Subject) => Promise<Subject>;
}

/**
 * Stores a case under new app ids and expects every answer to equal the oracle's. Returns the number of
 * ranges; every question was asked about each.
 */
export async function expectAgreement(subject: Subject, story: Case, hooks: Hooks = {}): Promise<number> {
  const count = Math.max(...story.batches.map(({ app }) => app)) + 1;
  const apps = Array.from({ length: count }, () => ({ id: appId(randomUUID()), domain: KNOWN_DOMAIN }));
  subject.begin(apps.map(({ id }) => id));
  const stored = await store(subject, story, apps, hooks);
  const asked = (await hooks.beforeQuestions?.(stored.subject)) ?? stored.subject;
  await expectAnswers(asked, apps, story, stored.deliveries);
  return apps.length * story.probes.length;
}

/** Asks all questions of a story, and expects the oracle's answers over these deliveries. */
export async function expectAnswers(
  { analytics, clock }: Pick<Subject, 'analytics' | 'clock'>,
  apps: readonly TestedApp[],
  { moments, probes }: Pick<Case, 'moments' | 'probes'>,
  deliveries: readonly Delivery[],
): Promise<void> {
  const oracle = createOracle(deliveries, known, () => clock.now);
  const compare = async (app: AppId, questions: readonly Question[], when: string): Promise<void> => {
    const [answers, expected] = await Promise.all(
      [analytics, oracle].map((source) =>
        Promise.all(questions.map(({ ask }) => outcome(() => ask(source, app, clock.now)))),
      ),
    );
    questions.forEach(({ name }, i) => {
      expect(answers?.[i], `${name}${when}`).toEqual(expected?.[i]);
    });
  };
  const segment = probes.map(({ asked }) => asked?.segment).find((each) => each);
  for (const { id } of apps) {
    for (const moment of moments) {
      clock.now = epochMs(moment);
      const when = ` at ${new Date(moment).toISOString()}`;
      await compare(id, ABOUT_ALL, when);
      if (segment) await compare(id, aboutNow(segment), when);
    }
    for (const probe of probes) await compare(id, aboutRange(probe), '');
  }
}

/** The answer, or why the question is refused: growth lists no more than 4,000 days. */
export async function outcome(ask: () => unknown): Promise<unknown> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError && error.code === 'validation_failed') return { refused: error.errors };
    throw error;
  }
}

/**
 * After so many questions about a range, everything that can be cached is cached: the KPIs have edges in three hours, and
 * the sixth to the eighth question each read the sessions of one.
 */
export const UNTIL_CACHED = 8;

/** Asks questions and ignores the answers. Results cached now must not spoil later answers. */
export async function askAbout(
  { analytics, clock }: Subject,
  apps: readonly AppId[],
  probes: readonly Probe[],
) {
  // Asks as many questions at once as one caller would. All together, some would wait too long for a place.
  for (const app of apps) {
    for (const questions of [ABOUT_ALL, ...probes.map(aboutRange)]) {
      await Promise.all(questions.map(({ ask }) => outcome(() => ask(analytics, app, clock.now))));
    }
  }
}

/** Sends everything in order. Returns the deliveries that count: each batch once. */
async function store(
  first: Subject,
  { batches, parallel }: Case,
  apps: readonly TestedApp[],
  hooks: Hooks,
): Promise<{ subject: Subject; deliveries: Delivery[] }> {
  let subject = first;
  const sent = arrivals(batches, apps);
  for (let i = 0; i < sent.length; i += parallel) {
    await Promise.all(sent.slice(i, i + parallel).map((arrival) => deliver(subject, arrival)));
    subject = (await hooks.afterArrivals?.(subject, Math.min(i + parallel, sent.length))) ?? subject;
  }
  const batchesSent = [...new Map(sent.map((arrival) => [arrival.batchId, arrival])).values()];
  return {
    subject,
    deliveries: batchesSent.flatMap(({ app, batch }) =>
      batch.deliveries.map((delivery) => ({ ...delivery, appId: app.id, appDomain: app.domain })),
    ),
  };
}

interface Arrival {
  readonly app: TestedApp;
  readonly batch: SentBatch;
  readonly batchId: string;
  /** How often the batch was stored so far; shared with its repetitions. */
  readonly tally: { stored: number };
}

/** Orders the batches. `again` says how many batches later each repetition comes. */
function arrivals(batches: readonly SentBatch[], apps: readonly TestedApp[]): Arrival[] {
  return batches
    .flatMap((batch, turn) => {
      const app = apps[batch.app];
      if (app === undefined) throw new Error(`no app ${batch.app}`);
      const arrival: Arrival = { app, batch, batchId: randomUUID(), tally: { stored: 0 } };
      return [0, ...batch.again].map((later) => ({ arrival, turn: turn + later }));
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ arrival }) => arrival);
}

/** Delivers a batch. Expects that of it and its repetitions exactly one is stored, in full. */
async function deliver(subject: Subject, { app, batch, batchId, tally }: Arrival): Promise<void> {
  const { accepted, duplicate } = await subject.deliver(app, batchId, batch.deliveries);
  if (!duplicate) tally.stored += 1;
  const events = batch.deliveries.reduce((total, delivery) => total + delivery.events.length, 0);
  expect(accepted, 'accepted events').toBe(duplicate ? 0 : events);
  expect(tally.stored, 'times that a batch was stored').toBe(1);
}

/** The analytics (asynchronous) or the oracle (synchronous). */
export type Source = { readonly [Q in keyof Analytics]: (...args: Parameters<Analytics[Q]>) => unknown };

export interface Question {
  readonly name: string;
  readonly ask: (source: Source, app: AppId, now: EpochMs) => unknown;
  /**
   * The same question about all sessions, if it has a segment. A session may begin or cease to match when another one comes or
   * goes, so figures with a segment do not only grow. They are never above these.
   */
  readonly ofAll?: Question['ask'];
}

/** The questions whose window follows the clock. */
export const aboutNow = (segment: Segment | null): Question[] =>
  labelled(segment, '', [
    { name: 'trafficHeatmap', ask: (source, app, now) => source.trafficHeatmap(app, now, segment) },
    { name: 'audienceActivity', ask: (source, app, now) => source.audienceActivity(app, now, segment) },
    { name: 'realtime', ask: (source, app, now) => source.realtime(app, now, segment) },
  ]);

export const ABOUT_ALL: readonly Question[] = [
  { name: 'dataBounds', ask: (source, app) => source.dataBounds(app) },
  ...aboutNow(null),
];

export function aboutRange(probe: Probe): Question[] {
  const questions = narrowed(probe);
  if (!probe.asked?.segment) return questions;
  const wide = narrowed({ ...probe, asked: { ...probe.asked, segment: null } });
  return questions.map((question, i) => ({ ...question, ofAll: (wide[i] ?? question).ask }));
}

function narrowed({ range, limit, asked }: Probe): Question[] {
  const open: OpenRange = { from: bound(range.from), to: bound(range.to) };
  const { from, to } = open;
  const segment = asked?.segment ?? null;
  const more: Question[] =
    asked === undefined
      ? []
      : [
          {
            name: `series by ${asked.series.interval} in ${asked.series.timezone}`,
            ask: (source, app) => source.series(app, open, asked.series, segment),
          },
          {
            name: `breakdown by ${asked.by}`,
            ask: (source, app) => source.breakdown(app, open, asked.by, limit, segment),
          },
        ];
  const named: EventsQuestion = asked?.events ?? { type: 'custom', property: null };
  const closed: Question[] =
    from === null || to === null
      ? []
      : [{ name: 'kpis', ask: (source, app) => source.kpis(app, { from, to }, segment) }];
  return labelled(segment, ` [${spelled(from)}, ${spelled(to)}] limit ${limit}`, [
    ...closed,
    { name: 'overview', ask: (source, app) => source.overview(app, open, segment) },
    { name: 'pageviews', ask: (source, app) => source.pageviews(app, open, limit, segment) },
    { name: 'timeSpent', ask: (source, app) => source.timeSpent(app, open, limit, segment) },
    {
      name: `events ${JSON.stringify(named)}`,
      ask: (source, app) => source.events(app, open, named, limit, segment),
    },
    { name: 'userGrowth', ask: (source, app) => source.userGrowth(app, open, segment) },
    { name: 'locations', ask: (source, app) => source.locations(app, open, limit, segment) },
    { name: 'utmCampaigns', ask: (source, app) => source.utmCampaigns(app, open, segment) },
    ...more,
  ]);
}

function labelled(segment: Segment | null, label: string, questions: readonly Question[]): Question[] {
  const about = segment === null ? '' : ` segment ${JSON.stringify(segment)}`;
  return questions.map((question) => ({ ...question, name: `${question.name}${label}${about}` }));
}

const bound = (at: number | null): EpochMs | null => (at === null ? null : epochMs(at));
const spelled = (at: number | null): string => (at === null ? 'open' : new Date(at).toISOString());
