// Compiled by openapi.test.ts beside what the generators made: their types of each answer are the client's own.
import createClient from 'openapi-fetch';
import type { CreatedApp, Data, NewApp, Question } from 'session-analytics-client';
import * as heyApi from './hey-api/index.ts';
import type { operations, paths } from './openapi-typescript.ts';
import * as orval from './orval/index.ts';

/** True for types that accept each other, and are not `any`. */
type Same<A, B> = 0 extends 1 & A ? false : [A, B] extends [B, A] ? true : false;

/** As `Same`; also for a narrower type: @hey-api/openapi-ts makes a tuple of a list whose length is known. */
type Fits<A, B> = 0 extends 1 & A ? false : [A] extends [B] ? true : false;

type OfOpenApiTypescript<Q extends Question> = operations[Q]['responses'][200]['content']['application/json'];
type OfOrval<Q extends Question> = Extract<
  Awaited<ReturnType<(typeof orval)[Q]>>,
  { readonly status: 200 }
>['data'];
type OfHeyApi<Q extends Question> = NonNullable<Awaited<ReturnType<(typeof heyApi)[Q]>>['data']>;

type Answers = {
  readonly [Q in Question]: readonly [
    Same<OfOpenApiTypescript<Q>, Data<Q>>,
    Same<OfOrval<Q>, Data<Q>>,
    Fits<OfHeyApi<Q>, Data<Q>>,
  ];
};
const right = [true, true, true] as const;
export const answers: Answers = {
  listApps: right,
  getDataBounds: right,
  getExtendedOverview: right,
  getOverviewKpis: right,
  listPageviews: right,
  listTimeSpent: right,
  listUserGrowth: right,
  getTrafficHeatmap: right,
  getAudienceActivity: right,
  listLocations: right,
  listUtmCampaigns: right,
  getSeries: right,
  listBreakdown: right,
  listEvents: right,
  getRealtime: right,
};

type Created = operations['createApp']['responses'][201]['content']['application/json'];
export const creation: readonly [
  Same<Created, CreatedApp>,
  Same<operations['createApp']['requestBody']['content']['application/json'], NewApp>,
  Same<Extract<Awaited<ReturnType<typeof orval.createApp>>, { readonly status: 201 }>['data'], CreatedApp>,
  Same<NonNullable<Awaited<ReturnType<typeof heyApi.createApp>>['data']>, CreatedApp>,
] = [true, true, true, true];

/** As people write it. */
export async function used(appId: string): Promise<number> {
  const { GET } = createClient<paths>({ baseUrl: 'http://localhost' });
  const query = { appId, from: '2026-11-20T10:46:00Z', limit: 3 };
  const pages = await GET('/api/v1/sessions/pageviews', { params: { query } });
  const kpis = await GET('/api/v1/sessions/overview/kpis', { params: { query: { appId } } });
  if (pages.error !== undefined) throw new Error(`${pages.error.code}: ${pages.error.detail}`);
  // @ts-expect-error: no such field.
  pages.data[0]?.visits;
  // @ts-expect-error: `appId` is missing.
  await orval.listPageviews({});
  const listed = await orval.listPageviews(query);
  const { data } = await heyApi.listPageviews({ query, throwOnError: true });
  const views = listed.status === 200 ? listed.data.map((page) => page.views) : [];
  return (
    (pages.data[0]?.views ?? 0) + (kpis.data?.current.sessions ?? 0) + (views[0] ?? 0) + (data[0]?.views ?? 0)
  );
}
