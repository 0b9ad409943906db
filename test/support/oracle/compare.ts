import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Analytics } from '../../../src/analytics/results.ts';
import { type AppId, appId } from '../../../src/domain/ids.ts';
import { type EpochMs, epochMs, type OpenRange } from '../../../src/domain/time.ts';
import type { Case, Probe, SentBatch } from '../generate.ts';
import { KNOWN_DOMAIN, known } from './known.ts';
import type { Delivery } from './model.ts';
import { createOracle } from './oracle.ts';

export interface TestedApp {
  readonly id: AppId;
  readonly domain: string;
}

/** What is put to the test: a store behind its pipeline, and the questions to it. */
export interface Subject {
  /** The clock that the questions read; a case sets it. */
  readonly clock: { now: EpochMs };
  readonly analytics: Analytics;
  /** Sends one batch; the same id again stores nothing. */
  deliver(
    app: TestedApp,
    batchId: string,
    deliveries: SentBatch['deliveries'],
  ): Promise<{ readonly accepted: number; readonly duplicate: boolean }>;
}

/** What happens besides: sealing, a kill and a new start, … */
export interface Hooks {
  /** After each arrival, repetitions included; `subject` may be another one from then on. */
  readonly afterArrival?: (subject: Subject, arrived: number) => Promise<Subject>;
  /** Before the questions are asked. */
  readonly beforeQuestions?: (subject: Subject) => Promise<Subject>;
}

/** Stores a case under fresh app ids and expects every answer to equal the oracle's. */
export async function expectAgreement(subject: Subject, story: Case, hooks: Hooks = {}): Promise<void> {
  const count = Math.max(...story.batches.map(({ app }) => app)) + 1;
  const apps = Array.from({ length: count }, () => ({ id: appId(randomUUID()), domain: KNOWN_DOMAIN }));
  const stored = await store(subject, story, apps, hooks);
  const asked = (await hooks.beforeQuestions?.(stored.subject)) ?? stored.subject;
  const oracle = createOracle(stored.deliveries, known, () => asked.clock.now);
  for (const { id } of apps) {
    for (const moment of story.moments) {
      asked.clock.now = epochMs(moment);
      const questions = [...ABOUT_ALL, ...story.probes.flatMap(aboutRange)];
      const answers = await Promise.all(questions.map(({ ask }) => ask(asked.analytics, id)));
      questions.forEach(({ name, ask }, i) => {
        expect(answers[i], `${name} at ${new Date(moment).toISOString()}`).toEqual(ask(oracle, id));
      });
    }
  }
}

/** Sends everything in order, and returns what counts of it. */
async function store(
  first: Subject,
  story: Case,
  apps: readonly TestedApp[],
  hooks: Hooks,
): Promise<{ subject: Subject; deliveries: Delivery[] }> {
  let subject = first;
  const deliveries: Delivery[] = [];
  for (const [arrived, { batch, batchId, repeated }] of arrivals(story.batches).entries()) {
    const app = apps[batch.app];
    if (app === undefined) throw new Error(`no app ${batch.app}`);
    const result = await subject.deliver(app, batchId, batch.deliveries);
    const events = batch.deliveries.reduce((total, delivery) => total + delivery.events.length, 0);
    expect(result, `batch ${arrived}`).toEqual({ accepted: repeated ? 0 : events, duplicate: repeated });
    if (!repeated) {
      deliveries.push(...batch.deliveries.map((sent) => ({ ...sent, appId: app.id, appDomain: app.domain })));
    }
    subject = (await hooks.afterArrival?.(subject, arrived)) ?? subject;
  }
  return { subject, deliveries };
}

/** Each batch in its turn, its repetitions after so many later ones. */
function arrivals(
  batches: readonly SentBatch[],
): { readonly batch: SentBatch; readonly batchId: string; readonly repeated: boolean }[] {
  return batches
    .flatMap((batch, turn) => {
      const batchId = randomUUID();
      return [
        { batch, batchId, repeated: false, turn },
        ...batch.again.map((later) => ({ batch, batchId, repeated: true, turn: turn + later })),
      ];
    })
    .sort((a, b) => a.turn - b.turn || Number(a.repeated) - Number(b.repeated));
}

/** The analytics or the oracle: one answers later, the other at once. */
type Source = { readonly [Q in keyof Analytics]: (...args: Parameters<Analytics[Q]>) => unknown };

interface Question {
  readonly name: string;
  readonly ask: (source: Source, app: AppId) => unknown;
}

const ABOUT_ALL: readonly Question[] = [
  { name: 'dataBounds', ask: (source, app) => source.dataBounds(app) },
  { name: 'trafficHeatmap', ask: (source, app) => source.trafficHeatmap(app) },
  { name: 'audienceActivity', ask: (source, app) => source.audienceActivity(app) },
];

function aboutRange({ range, limit }: Probe): Question[] {
  const open: OpenRange = { from: bound(range.from), to: bound(range.to) };
  const { from, to } = open;
  const closed: Question[] =
    from === null || to === null
      ? []
      : [{ name: 'kpis', ask: (source, app) => source.kpis(app, { from, to }) }];
  const questions: Question[] = [
    ...closed,
    { name: 'overview', ask: (source, app) => source.overview(app, open) },
    { name: 'pageviews', ask: (source, app) => source.pageviews(app, open, limit) },
    { name: 'timeSpent', ask: (source, app) => source.timeSpent(app, open, limit) },
    { name: 'userGrowth', ask: (source, app) => source.userGrowth(app, open) },
    { name: 'locations', ask: (source, app) => source.locations(app, open, limit) },
    { name: 'utmCampaigns', ask: (source, app) => source.utmCampaigns(app, open) },
  ];
  const label = `[${spelled(from)}, ${spelled(to)}] limit ${limit}`;
  return questions.map((question) => ({ ...question, name: `${question.name} ${label}` }));
}

const bound = (at: number | null): EpochMs | null => (at === null ? null : epochMs(at));
const spelled = (at: number | null): string => (at === null ? 'open' : new Date(at).toISOString());
