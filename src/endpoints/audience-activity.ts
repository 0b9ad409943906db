import { z } from 'zod';
import { activityBasis, basisOf } from '../analytics/scopes.ts';
import { defineQuestion } from './endpoint.ts';
import { hourly, Timestamp } from './fields.ts';
import { AppSegmentQuery } from './query.ts';

const AudienceActivity = z
  .strictObject({
    timezone: z.literal('Asia/Tehran'),
    from: Timestamp,
    to: Timestamp,
    windowDays: z.literal(28),
    days: z
      .array(
        z.strictObject({
          dayOfWeek: z.int().min(1).max(7).meta({ description: 'ISO: Monday is 1.' }),
          sessions: hourly('averageSessions'),
          visitors: hourly('averageVisitors'),
          pageviews: hourly('averagePageviews'),
        }),
      )
      .length(7),
  })
  .meta({ id: 'PublicAudienceActivityResponseDto' });

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
