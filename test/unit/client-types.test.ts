import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { Frozen } from '../../src/answers/answer.ts';
import { PATHS } from '../../src/client/client.ts';
import type {
  Client,
  CreatedApp,
  Data,
  ErrorCode,
  NewApp,
  Params,
  Question,
} from '../../src/client/index.ts';
import type { ErrorCode as ServiceErrorCode } from '../../src/domain/errors.ts';
import { audienceActivity } from '../../src/endpoints/audience-activity.ts';
import { breakdown } from '../../src/endpoints/breakdown.ts';
import type { createApp } from '../../src/endpoints/create-app.ts';
import { dataBounds } from '../../src/endpoints/data-bounds.ts';

import { events } from '../../src/endpoints/events.ts';
import { listApps } from '../../src/endpoints/list-apps.ts';
import { locations } from '../../src/endpoints/locations.ts';
import { overviewExtended } from '../../src/endpoints/overview-extended.ts';
import { overviewKpis } from '../../src/endpoints/overview-kpis.ts';
import { pageviews } from '../../src/endpoints/pageviews.ts';
import { realtime } from '../../src/endpoints/realtime.ts';
import { series } from '../../src/endpoints/series.ts';
import { timeSpent } from '../../src/endpoints/time-spent.ts';
import { trafficHeatmap } from '../../src/endpoints/traffic-heatmap.ts';
import { userGrowth } from '../../src/endpoints/user-growth.ts';
import { utm } from '../../src/endpoints/utm.ts';

// The client's types are written by hand, so that its declarations need no other package. `npm run check` compiles
// this file, and fails if a type is not exactly the service's.

const ENDPOINTS = {
  listApps,
  getDataBounds: dataBounds,
  getExtendedOverview: overviewExtended,
  getOverviewKpis: overviewKpis,
  listPageviews: pageviews,
  listTimeSpent: timeSpent,
  listEvents: events,
  listUserGrowth: userGrowth,
  getTrafficHeatmap: trafficHeatmap,
  getAudienceActivity: audienceActivity,
  listLocations: locations,
  listUtmCampaigns: utm,
  getSeries: series,
  listBreakdown: breakdown,
  getRealtime: realtime,
} as const;
type Endpoints = typeof ENDPOINTS;

type Equal<A, B> = [A, B] extends [B, A] ? true : false;
/** Compares nested objects key by key. One `false` in the union: a key is missing, additional or of another type. */
type Compared<A, B> = [A, B] extends [readonly (infer X)[], readonly (infer Y)[]]
  ? Compared<X, Y>
  : [A, B] extends [object, object]
    ? Equal<keyof A, keyof B> | { [K in keyof A]: Compared<A[K], B[K & keyof B]> }[keyof A]
    : Equal<A, B>;
type Same<A, B> = [Compared<A, B>] extends [true] ? true : never;

type Output<Q extends Question> = Frozen<z.output<Endpoints[Q]['response']>>;
type Names<Q extends Question> = keyof z.input<Endpoints[Q]['query']>;

const answers: { readonly [Q in Question]: Same<Data<Q>, Output<Q>> } = {
  listApps: true,
  getDataBounds: true,
  getExtendedOverview: true,
  getOverviewKpis: true,
  listPageviews: true,
  listTimeSpent: true,
  listEvents: true,
  listUserGrowth: true,
  getTrafficHeatmap: true,
  getAudienceActivity: true,
  listLocations: true,
  listUtmCampaigns: true,
  getSeries: true,
  listBreakdown: true,
  getRealtime: true,
};
const parameters: { readonly [Q in Exclude<Question, 'listApps'>]: Equal<keyof Params<Q>, Names<Q>> } = {
  getDataBounds: true,
  getExtendedOverview: true,
  getOverviewKpis: true,
  listPageviews: true,
  listTimeSpent: true,
  listEvents: true,
  listUserGrowth: true,
  getTrafficHeatmap: true,
  getAudienceActivity: true,
  listLocations: true,
  listUtmCampaigns: true,
  getSeries: true,
  listBreakdown: true,
  getRealtime: true,
};
const others: [
  Equal<ErrorCode, ServiceErrorCode>,
  Equal<NewApp, Readonly<z.input<(typeof createApp)['body']>>>,
  Same<CreatedApp, Frozen<z.output<(typeof createApp)['response']>>>,
  Equal<keyof Client, Question | 'createApp' | 'download' | 'live' | 'poll'>,
] = [true, true, true, true];

test("the client's questions are the service's, with its parameters and answers", () => {
  expect(Object.keys(PATHS)).toEqual(Object.keys(ENDPOINTS));
  expect(Object.keys(answers)).toEqual(Object.keys(ENDPOINTS));
  expect(Object.keys(parameters)).toEqual(Object.keys(ENDPOINTS).filter((name) => name !== 'listApps'));
  expect(others).toHaveLength(4);
});
