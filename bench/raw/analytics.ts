import type { Analytics } from '../../src/analytics/answers/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { rawDatabase } from './ask.ts';
import { breakdown } from './breakdown.ts';
import { dataBounds } from './data-bounds.ts';
import { events } from './events.ts';
import { kpis } from './kpis.ts';
import { locations } from './locations.ts';
import { overview } from './overview.ts';
import { pageviews } from './pageviews.ts';
import { realtime } from './realtime.ts';
import { series } from './series.ts';
import { audienceActivity, trafficHeatmap } from './tehran-hours.ts';
import { timeSpent } from './time-spent.ts';
import { userGrowth } from './user-growth.ts';
import { utmCampaigns } from './utm-campaigns.ts';

/**
 * Answers the same questions without facts, from raw events and merged sessions alone, as the reference for
 * the facts. Only the questions that the bench asks with a segment take one.
 */
export function createRawAnalytics(database: Database): Analytics {
  const db = rawDatabase(database);
  return {
    dataBounds: (app) => dataBounds(db, app),
    overview: (app, range, segment = null) => overview(db, app, range, segment),
    kpis: (app, current, segment = null) => kpis(db, app, current, segment),
    pageviews: (app, range, limit, segment = null) => pageviews(db, app, range, limit, segment),
    timeSpent: (app, range, limit) => timeSpent(db, app, range, limit),
    events: (app, range, question) => events(db, app, range, question),
    userGrowth: (app, range, segment = null) => userGrowth(db, app, range, segment),
    trafficHeatmap: (app, now) => trafficHeatmap(db, app, now),
    audienceActivity: (app, now) => audienceActivity(db, app, now),
    locations: (app, range, limit) => locations(db, app, range, limit),
    utmCampaigns: (app, range) => utmCampaigns(db, app, range),
    series: (app, range, question, segment = null) => series(db, app, range, question, segment),
    breakdown: (app, range, by, _limit, segment = null) => breakdown(db, app, range, by, segment),
    realtime: (app, now) => realtime(db, app, now),
  };
}
