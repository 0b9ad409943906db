import type { Asker } from './ask.ts';
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

/** Binds every question to a store and a clock. */
export function createAnalytics(asker: Asker): Analytics {
  return {
    dataBounds: (app) => dataBounds(asker, app),
    overview: (app, range) => overview(asker, app, range),
    kpis: (app, current) => kpis(asker, app, current),
    pageviews: (app, range, limit) => pageviews(asker, app, range, limit),
    timeSpent: (app, range, limit) => timeSpent(asker, app, range, limit),
    userGrowth: (app, range) => userGrowth(asker, app, range),
    trafficHeatmap: (app) => trafficHeatmap(asker, app),
    audienceActivity: (app) => audienceActivity(asker, app),
    locations: (app, range, limit) => locations(asker, app, range, limit),
    utmCampaigns: (app, range) => utmCampaigns(asker, app, range),
  };
}
