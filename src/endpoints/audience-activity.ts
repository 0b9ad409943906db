import { activityBasis, basisOf } from '../analytics/scopes.ts';
import { AudienceActivity } from '../answers/times.ts';
import { defineQuestion } from './endpoint.ts';
import { AppSegmentQuery } from './query.ts';

export const audienceActivity = defineQuestion({
  operationId: 'getAudienceActivity',
  path: '/api/v1/sessions/traffic-audience-activity',
  summary: 'Average activity per day of week and hour, over 28 days in Tehran time',
  description:
    'Over the 672 Tehran hours that end with the current one, so each cell averages 4 hours; 2 decimals. `to` is the last ms of the current hour.',
  query: AppSegmentQuery,
  response: AudienceActivity,
  errors: ['beyond_retention'],
  question: ({ appId, segment }, now) => ({
    basis: basisOf(activityBasis(now), segment),
    compute: (analytics) => analytics.audienceActivity(appId, now, segment),
  }),
});
