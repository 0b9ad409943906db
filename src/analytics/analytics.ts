import type { Database } from '../clickhouse/database.ts';
import type { Clock } from '../domain/time.ts';
import { LiveCache } from '../facts/live-sessions.ts';
import { createReaders, type Readers } from '../facts/readers.ts';
import { SealedCache } from '../facts/sealed-cache.ts';
import { createSnapshots, type ReadSnapshot } from '../facts/snapshots.ts';
import type { FactKind } from '../facts/watermarks.ts';
import type { Asker, Facts } from './ask.ts';
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
  readonly clock: Clock;
  /** Shared with the sealer, which waits for those who still read what it takes away. */
  readonly readers?: Readers;
  /** Shared with whoever asks for versions of the data. */
  readonly snapshots?: ReadSnapshot;
  /** What is remembered of sealed facts. */
  readonly sealed?: SealedCache;
  /** What is remembered of sessions that are not. */
  readonly live?: LiveCache;
}

/** Binds every question to a store and a clock. */
export function createAnalytics({
  db,
  clock,
  readers = createReaders(0),
  snapshots = createSnapshots(db),
  sealed = new SealedCache(),
  live = new LiveCache(),
}: AnalyticsDeps): Analytics {
  const asker: Asker = {
    db,
    clock,
    live,
    facts: async (app) => {
      const { watermarks, keptFrom, facts } = await snapshots(app);
      const of = (kind: FactKind): Facts => ({
        app,
        until: watermarks[kind],
        keptFrom,
        recall: (query, load, keep) => sealed.get(query, facts[kind], load, (rows) => rows, keep),
        recallMade: (query, load, make, keep) => sealed.get(query, facts[kind], load, make, keep),
        recallEach: (query, keys, load) => sealed.each(query, facts[kind], keys, load),
        isRepeated: (query) => sealed.isRepeated(query, facts[kind]),
      });
      return { page: of('page'), session: of('session') };
    },
  };
  const { reading } = readers;
  return {
    dataBounds: (app) => dataBounds(asker, app),
    overview: (app, range) => reading(() => overview(asker, app, range)),
    kpis: (app, current) => reading(() => kpis(asker, app, current)),
    pageviews: (app, range, limit) => reading(() => pageviews(asker, app, range, limit)),
    timeSpent: (app, range, limit) => reading(() => timeSpent(asker, app, range, limit)),
    userGrowth: (app, range) => reading(() => userGrowth(asker, app, range)),
    trafficHeatmap: (app) => reading(() => trafficHeatmap(asker, app)),
    audienceActivity: (app) => reading(() => audienceActivity(asker, app)),
    locations: (app, range, limit) => reading(() => locations(asker, app, range, limit)),
    utmCampaigns: (app, range) => reading(() => utmCampaigns(asker, app, range)),
  };
}
