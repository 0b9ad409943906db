import type { Analytics } from '../../src/analytics/answers/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { rawDatabase } from './ask.ts';
import { dataBounds } from './data-bounds.ts';
import { kpis } from './kpis.ts';
import { locations } from './locations.ts';
import { overview } from './overview.ts';
import { pageviews } from './pageviews.ts';
import { audienceActivity, trafficHeatmap } from './tehran-hours.ts';
import { timeSpent } from './time-spent.ts';
import { userGrowth } from './user-growth.ts';
import { utmCampaigns } from './utm-campaigns.ts';

/** The questions that are also answered from raw events. */
export type RawAnalytics = Omit<Analytics, 'series' | 'breakdown' | 'events' | 'realtime'>;

/**
 * Answers the same questions without facts, from raw events and merged sessions alone, as the reference for
 * the facts.
 */
export function createRawAnalytics(database: Database): RawAnalytics {
  const db = rawDatabase(database);
  return {
    dataBounds: (app) => dataBounds(db, app),
    overview: (app, range) => overview(db, app, range),
    kpis: (app, current) => kpis(db, app, current),
    pageviews: (app, range, limit) => pageviews(db, app, range, limit),
    timeSpent: (app, range, limit) => timeSpent(db, app, range, limit),
    userGrowth: (app, range) => userGrowth(db, app, range),
    trafficHeatmap: (app, now) => trafficHeatmap(db, app, now),
    audienceActivity: (app, now) => audienceActivity(db, app, now),
    locations: (app, range, limit) => locations(db, app, range, limit),
    utmCampaigns: (app, range) => utmCampaigns(db, app, range),
  };
}
