import type { Database } from '../clickhouse/database.ts';
import { asQuestion } from '../domain/caller.ts';
import { AppError } from '../domain/errors.ts';
import type { AppId } from '../domain/ids.ts';
import { Memory } from '../facts/memory.ts';
import { createSnapshots, type ReadSnapshot } from '../facts/snapshots.ts';
import type { AppFacts } from './ask.ts';
import { createFacts } from './facts.ts';
import { TooManyLate } from './late.ts';
import { dataBounds } from './questions/data-bounds.ts';
import { kpis } from './questions/kpis.ts';
import { locations } from './questions/locations.ts';
import { overview } from './questions/overview.ts';
import { pageviews } from './questions/pageviews.ts';
import { audienceActivity, trafficHeatmap } from './questions/tehran-hours.ts';
import { timeSpent } from './questions/time-spent.ts';
import { userGrowth } from './questions/user-growth.ts';
import { utmCampaigns } from './questions/utm-campaigns.ts';
import type { Analytics } from './results.ts';

export interface AnalyticsDeps {
  readonly db: Database;
  /** Share it with other readers of the data's version; a new one by default. */
  readonly snapshots?: ReadSnapshot;
  readonly memory?: Memory;
}

/** How often a question is asked again because rows were deleted meanwhile. Even once is rare. */
const MOST_ATTEMPTS = 5;

/** Binds all questions to a store. */
export function createAnalytics({
  db,
  snapshots = createSnapshots(db),
  memory = new Memory(),
}: AnalyticsDeps): Analytics {
  /**
   * Asks a question with one snapshot of the facts. Sealing does not wait for readers: if it has deleted rows
   * meanwhile (the era changed), the answer may lack them, so the question is asked again.
   */
  const untilSteady = async <Answer>(
    app: AppId,
    ask: (facts: AppFacts) => Promise<Answer>,
  ): Promise<Answer> => {
    let patched = true;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const snapshot = await snapshots(app);
      const facts = createFacts({ db, memory, app, snapshot, patched });
      try {
        const answer = await ask(facts);
        if ((await snapshots(app)).era === snapshot.era) return answer;
      } catch (error) {
        if (!(error instanceof TooManyLate)) throw error;
        patched = false;
      }
    }
    throw new AppError('overloaded', 'The facts of this app change too fast. Try again shortly.', {
      retryAfterSeconds: 5,
    });
  };
  const asked = <Answer>(app: AppId, ask: (facts: AppFacts) => Promise<Answer>): Promise<Answer> =>
    asQuestion(() => untilSteady(app, ask));
  return {
    dataBounds: (app) => asked(app, async (facts) => dataBounds(facts)),
    overview: (app, range) => asked(app, (facts) => overview(facts, range)),
    kpis: (app, current) => asked(app, (facts) => kpis(facts, current)),
    pageviews: (app, range, limit) => asked(app, (facts) => pageviews(facts, range, limit)),
    timeSpent: (app, range, limit) => asked(app, (facts) => timeSpent(facts, range, limit)),
    userGrowth: (app, range) => asked(app, (facts) => userGrowth(facts, range)),
    trafficHeatmap: (app, now) => asked(app, (facts) => trafficHeatmap(facts, now)),
    audienceActivity: (app, now) => asked(app, (facts) => audienceActivity(facts, now)),
    locations: (app, range, limit) => asked(app, (facts) => locations(facts, range, limit)),
    utmCampaigns: (app, range) => asked(app, (facts) => utmCampaigns(facts, range)),
  };
}
