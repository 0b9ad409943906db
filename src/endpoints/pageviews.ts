import { z } from 'zod';
import { basisOf, eventsBasis } from '../analytics/scopes.ts';
import { PageView } from '../answers/rows.ts';
import { defineQuestion } from './endpoint.ts';
import { AppRangeListQuery } from './query.ts';

export const pageviews = defineQuestion({
  operationId: 'listPageviews',
  path: '/api/v1/sessions/pageviews',
  summary: 'Views and unique sessions per page path',
  description: 'By views descending, then path in byte order.',
  query: AppRangeListQuery,
  response: z.array(PageView),
  errors: ['beyond_retention'],
  question: ({ appId, range, limit, segment }) => ({
    basis: basisOf(eventsBasis(range), segment),
    compute: (analytics) => analytics.pageviews(appId, range, limit, segment),
  }),
});
