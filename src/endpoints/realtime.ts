import { basisOf, realtimeBasis } from '../analytics/scopes.ts';
import { Realtime } from '../answers/times.ts';
import { defineQuestion } from './endpoint.ts';
import { AppSegmentQuery } from './query.ts';

export const realtime = defineQuestion({
  operationId: 'getRealtime',
  path: '/api/v1/sessions/realtime',
  summary: 'The last 30 minutes',
  description:
    'The 30 minutes that end with the current one; `to` is its last ms. Counts the events of these minutes, and their sessions and visitors. Lists hold the first 10. Later events do not count.',
  query: AppSegmentQuery,
  response: Realtime,
  errors: ['beyond_retention'],
  question: ({ appId, segment }, now) => ({
    basis: basisOf(realtimeBasis(now), segment),
    compute: (analytics) => analytics.realtime(appId, now, segment),
  }),
});
