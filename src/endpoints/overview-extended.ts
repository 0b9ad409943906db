import { basisOf, overviewBasis } from '../analytics/scopes.ts';
import { ExtendedOverview } from '../answers/overview.ts';
import { defineQuestion } from './endpoint.ts';
import { AppRangeQuery } from './query.ts';

export const overviewExtended = defineQuestion({
  operationId: 'getExtendedOverview',
  path: '/api/v1/sessions/overview/extended',
  summary: 'Session, page, interaction, technology, error and traffic metrics',
  description: 'Lists hold the first 10 by their first count, then names.',
  query: AppRangeQuery,
  response: ExtendedOverview,
  errors: ['beyond_retention'],
  question: ({ appId, range, segment }) => ({
    basis: basisOf(overviewBasis(range), segment),
    compute: (analytics) => analytics.overview(appId, range, segment),
  }),
});
