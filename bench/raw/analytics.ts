import type { Analytics } from '../../src/analytics/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { type Asker, rawDatabase } from './ask.ts';
import { dataBounds } from './data-bounds.ts';
import { kpis } from './kpis.ts';
import { locations } from './locations.ts';
import { overview } from './overview.ts';
import { pageviews } from './pageviews.ts';
import { audienceActivity, trafficHeatmap } from './tehran-hours.ts';
import { timeSpent } from './time-spent.ts';
import { userGrowth } from './user-growth.ts';
import { utmCampaigns } from './utm-campaigns.ts';

/**
 * Answers the same questions without facts, from raw events and merged sessions alone, as the reference for
 * the facts.
 */
export function createRawAnalytics(db: Database): Analytics {
  const asker: Asker = { db: rawDatabase(db) };
  return {
    dataBounds: (app) => dataBounds(asker, app),
    overview: (app, range) => overview(asker, app, range),
    kpis: (app, current) => kpis(asker, app, current),
    pageviews: (app, range, limit) => pageviews(asker, app, range, limit),
    timeSpent: (app, range, limit) => timeSpent(asker, app, range, limit),
    userGrowth: (app, range) => userGrowth(asker, app, range),
    trafficHeatmap: (app, now) => trafficHeatmap(asker, app, now),
    audienceActivity: (app, now) => audienceActivity(asker, app, now),
    locations: (app, range, limit) => locations(asker, app, range, limit),
    utmCampaigns: (app, range) => utmCampaigns(asker, app, range),
  };
}
