import { audienceActivity } from './audience-activity.ts';
import { breakdown } from './breakdown.ts';
import { createApp } from './create-app.ts';
import { dataBounds } from './data-bounds.ts';
import type { Endpoint } from './endpoint.ts';
import { events } from './events.ts';
import { listApps } from './list-apps.ts';
import { locations } from './locations.ts';
import { overviewExtended } from './overview-extended.ts';
import { overviewKpis } from './overview-kpis.ts';
import { pageviews } from './pageviews.ts';
import { realtime } from './realtime.ts';
import { series } from './series.ts';
import { timeSpent } from './time-spent.ts';
import { trafficHeatmap } from './traffic-heatmap.ts';
import { userGrowth } from './user-growth.ts';
import { utm } from './utm.ts';

/** All endpoints of the Public API. */
export const ENDPOINTS: readonly Endpoint[] = [
  listApps,
  createApp,
  dataBounds,
  overviewExtended,
  overviewKpis,
  pageviews,
  timeSpent,
  events,
  userGrowth,
  trafficHeatmap,
  audienceActivity,
  locations,
  utm,
  series,
  breakdown,
  realtime,
];
