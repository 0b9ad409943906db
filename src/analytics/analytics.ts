import type { Database } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import type { Segment } from '../domain/segment.ts';
import type { Snapshot } from '../snapshots/read.ts';
import type { Analytics } from './answers/results.ts';
import type { AppFacts } from './input/app-facts.ts';
import { createFacts } from './input/create.ts';
import { TooManyLate } from './late/late.ts';
import { Memory } from './memory/memory.ts';
import { audienceActivity } from './questions/audience-activity.ts';
import { breakdown } from './questions/breakdown.ts';
import { dataBounds } from './questions/data-bounds.ts';
import { events } from './questions/events.ts';
import { kpis } from './questions/kpis.ts';
import { locations } from './questions/locations.ts';
import { overview } from './questions/overview.ts';
import { pageviews } from './questions/pageviews.ts';
import { realtime } from './questions/realtime.ts';
import { series } from './questions/series.ts';
import { timeSpent } from './questions/time-spent.ts';
import { trafficHeatmap } from './questions/traffic-heatmap.ts';
import { userGrowth } from './questions/user-growth.ts';
import { utmCampaigns } from './questions/utm-campaigns.ts';

interface AnalyticsDeps {
  readonly db: Database;
  readonly memory?: Memory;
  /** From so many pending events on, the store counts their sessions; see `SessionFacts.areMany`. */
  readonly manyEvents?: number;
}

/**
 * Answers questions from the facts of a snapshot that was just read. An answer may lack rows unless the snapshot's era is still
 * the app's era afterwards: see `untilSteady`.
 */
export type AnalyticsFrom = (snapshot: Snapshot) => Analytics;

type Ask<Answer> = (facts: AppFacts) => Promise<Answer>;

/** Of so many, a statement takes longer to carry out than to plan. */
const MANY_EVENTS = 30_000;
/** While a visitor is being erased, events leave the counts: equal numbers do not mean equal data. */
const NOTHING_KEPT = new Memory(0);

/** Binds all questions to a store. If too many events are late, raw rows answer from the first of them on. */
export const createAnalytics =
  ({ db, memory = new Memory(), manyEvents = MANY_EVENTS }: AnalyticsDeps): AnalyticsFrom =>
  (snapshot) =>
    questions(async (app, segment, ask) => {
      const kept = snapshot.isErasing ? NOTHING_KEPT : memory;
      const of = { db, memory: kept, app, snapshot, segment, areMany: snapshot.pendingEvents >= manyEvents };
      try {
        return await ask(createFacts({ ...of, patched: true }));
      } catch (error) {
        if (!(error instanceof TooManyLate)) throw error;
        return ask(createFacts({ ...of, patched: false }));
      }
    });

/** All questions, asked in one way. */
const questions = (
  asked: <Answer>(app: AppId, segment: Segment | null, ask: Ask<Answer>) => Promise<Answer>,
): Analytics => ({
  dataBounds: (app) => asked(app, null, async (facts) => dataBounds(facts)),
  overview: (app, range, segment = null) => asked(app, segment, (facts) => overview(facts, range)),
  kpis: (app, current, segment = null) => asked(app, segment, (facts) => kpis(facts, current)),
  pageviews: (app, range, limit, segment = null) =>
    asked(app, segment, (facts) => pageviews(facts, range, limit)),
  timeSpent: (app, range, limit, segment = null) =>
    asked(app, segment, (facts) => timeSpent(facts, range, limit)),
  events: (app, range, question, limit, segment = null) =>
    asked(app, segment, (facts) => events(facts, range, question, limit)),
  userGrowth: (app, range, segment = null) => asked(app, segment, (facts) => userGrowth(facts, range)),
  trafficHeatmap: (app, now, segment = null) => asked(app, segment, (facts) => trafficHeatmap(facts, now)),
  audienceActivity: (app, now, segment = null) =>
    asked(app, segment, (facts) => audienceActivity(facts, now)),
  locations: (app, range, limit, segment = null) =>
    asked(app, segment, (facts) => locations(facts, range, limit)),
  series: (app, range, question, segment = null) =>
    asked(app, segment, (facts) => series(facts, range, question)),
  breakdown: (app, range, by, limit, segment = null) =>
    asked(app, segment, (facts) => breakdown(facts, range, by, limit)),
  realtime: (app, now, segment = null) => asked(app, segment, (facts) => realtime(facts, now)),
  utmCampaigns: (app, range, segment = null) => asked(app, segment, (facts) => utmCampaigns(facts, range)),
});
