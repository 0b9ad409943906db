import { z } from 'zod';
import { basisOf, sessionsBasis } from '../analytics/scopes.ts';
import { UtmCampaign } from '../answers/rows.ts';
import { defineQuestion } from './endpoint.ts';
import { AppRangeQuery } from './query.ts';

export const utm = defineQuestion({
  operationId: 'listUtmCampaigns',
  path: '/api/v1/growth/utm',
  summary: 'Sessions and visitors per UTM combination',
  description: 'Combinations with a source: the first 100 by sessions descending, then names.',
  query: AppRangeQuery,
  response: z.array(UtmCampaign).max(100),
  errors: ['beyond_retention'],
  question: ({ appId, range, segment }) => ({
    basis: basisOf(sessionsBasis(range), segment),
    compute: (analytics) => analytics.utmCampaigns(appId, range, segment),
  }),
});
